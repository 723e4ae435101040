#pragma once
// GPU events of the running boot, one per code, device and provenance: what the check
// xid_since_boot judges long after tundishd has stored the witnesses.
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/check_sample.hpp"
#include "model/witness.hpp"
#include "model/xid_catalogue.hpp"

namespace tundish::agent {

struct BootEventState {
  std::string boot_id;
  std::vector<SampleEvent> events;
  std::int64_t blind_records = 0;
  bool source_lost = false;
  std::int64_t forgotten = 0;
  void fields(Fields& f) {
    f(1, "boot_id", boot_id, "boot that the rest belongs to");
    f(2, "events", events, "first sighting of each code on each device");
    f(3, "blind_records", blind_records, "records that nobody read");
    f(4, "source_lost", source_lost, "the log is away now");
    f(5, "forgotten", forgotten, "kinds of events beyond the limit");
  }
};

/// Any thread.
class BootEvents {
 public:
  BootEvents(std::string path, std::string catalog_dir);

  /// Call before the spool's cursor moves past the witness: durable when it returns.
  Result<> note(const std::vector<Witness>& witnesses);
  /// A verified reset ends what was said of the device before it.
  Result<> forget_device(const std::string& pci);
  void fill(CheckSample& sample, const std::string& boot_id) const;
  /// Grows when there is something new to judge.
  std::int64_t noted() const;

 private:
  enum class Room { none, made };
  Room make_room();
  bool note_one(const Witness& witness);
  Result<> save() const;
  Result<XidCatalogue> load_catalogue() const;

  mutable std::mutex mutex_;
  std::string path_;
  std::string catalog_dir_;
  BootEventState state_;
  std::int64_t noted_ = 0;
  mutable std::optional<XidCatalogue> catalogue_;
  mutable std::string catalogue_stamp_;
};

}  // namespace tundish::agent

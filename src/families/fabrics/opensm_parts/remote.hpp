#pragma once
// The steps of a change on the manager's node, one call each.
#include <functional>
#include <string>

#include "families/fabrics/driver_opensm.hpp"
#include "families/fabrics/opensm_parts/canary.hpp"
#include "families/fabrics/opensm_parts/sweep.hpp"

namespace tundish::fabrics {

struct RemoteFile {
  std::string text;
  std::string sum;        ///< SHA-256 in hex; "absent" when there is no file
  bool is_tried = false;  ///< we put it there, and nobody changed it since
};
Result<RemoteFile> parse_remote_file(const std::string& output);

class RemoteManager {
 public:
  template <class T>
  using Then = std::function<void(Result<T>)>;

  RemoteManager(Exec& exec, Scheduler& scheduler, FabricRef ref, families::OpensmSite site,
                Instant deadline)
      : exec_(exec),
        scheduler_(scheduler),
        ref_(std::move(ref)),
        site_(std::move(site)),
        deadline_(deadline) {}

  void read_file(Then<RemoteFile> then);
  void sweep(Then<Sweep> then);
  /// Gives the sum of the text that the canary took.
  void try_on_canary(const std::string& text, const FabricState& desired, Then<std::string> then);
  void install(const std::string& text, const std::string& new_sum, const std::string& old_sum,
               Then<void> then);
  /// Puts a text in place of the one that was read, and tells opensm. Gives its sum.
  void withdraw(const std::string& text, const std::string& old_sum, Then<std::string> then);
  void reload(Then<void> then);
  void find_paths(std::vector<FabricPath> asked, Then<std::vector<FabricPath>> then);

  Instant now() const { return scheduler_.now(); }
  Instant deadline() const { return deadline_; }
  const FabricRef& ref() const { return ref_; }
  const families::OpensmSite& site() const { return site_; }

 private:
  struct Script {
    const char* what;  ///< for errors: "reading partitions.conf"
    std::string_view text;
    std::vector<std::string> words;
    std::string input = {};
    std::string target = {};
  };
  void run(Script script, Then<std::string> then);

  Exec& exec_;
  Scheduler& scheduler_;
  FabricRef ref_;
  families::OpensmSite site_;
  Instant deadline_;
};

}  // namespace tundish::fabrics

#pragma once
// The event stream: every durable change once, in order, to everybody who may see it.
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "edge/api/backend.hpp"

namespace tundish::edge::api {

struct WatchEvent {
  Change change;
  std::optional<TenantId> owner;         ///< after the change
  std::optional<TenantId> owner_before;  ///< who must learn that it is gone for him
};

class Watch {
 public:
  /// Ring of the last changes; older ones cannot be told any more.
  static constexpr std::size_t ring_size = 10000;
  static constexpr std::size_t most_streams = 1000;
  static constexpr Duration heartbeat = seconds(15);

  explicit Watch(Backend& backend);
  void open(const Call& call, std::shared_ptr<Outlet> outlet);
  std::size_t streams() const { return streams_.size(); }

 private:
  struct Stream {
    Identity who;
    std::shared_ptr<Outlet> outlet;
  };
  void take(const Change& change);
  void emit(const Result<>& durable);
  void learn_owners();
  void beat();
  void drop_ended();
  std::string render(const Identity& who, const WatchEvent& event) const;

  Backend& backend_;
  std::deque<WatchEvent> ring_;
  std::vector<WatchEvent> pending_;  ///< in memory but not durable yet
  std::vector<Stream> streams_;
  std::map<std::pair<std::string, std::string>, TenantId> owners_;
  std::int64_t first_known_ = 0;  ///< changes after this revision are all in the ring
  std::int64_t newest_ = 0;
  bool beating_ = false;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace tundish::edge::api

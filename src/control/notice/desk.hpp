#pragma once
// Tells people what the registry says they should know: opens, repeats, resolves. What is due is in
// the store, so a restart goes on where it stopped, and a key is delivered as one message.
#include <functional>
#include <set>
#include <string>

#include "control/ledger.hpp"
#include "model/ops/notice_ops.hpp"
#include "ports/drivers.hpp"

namespace tundish::control {

struct DeskParts {
  Ledger& ledger;
  Scheduler& scheduler;
  Notifier* notifier = nullptr;            ///< nullptr: notices are kept, nobody is told
  std::function<void()> commit_soon = {};  ///< has what was performed made durable
};

class NoticeDesk {
 public:
  NoticeDesk(DeskParts parts, NoticeRules rules);
  /// Looks at everything that is open; call after Ledger::load().
  void start();

 private:
  void touch(const Change& change);
  void schedule_turn();
  void turn();
  void follow(const std::string& object);
  void follow_incident(const Incident& incident);
  void follow_maintenance(const Maintenance& maintenance);
  void send_due();
  void send(const Notice& notice);
  void on_delivered(const Notice& sent, const Result<>& result);
  void arm();
  void perform(const Operation& operation);

  DeskParts parts_;
  NoticeRules rules_;
  std::set<std::string> touched_;  ///< kind/id
  std::set<Id<Notice>> in_flight_;
  Instant armed_;
  bool turn_scheduled_ = false;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace tundish::control

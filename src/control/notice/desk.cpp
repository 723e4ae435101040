#include "control/notice/desk.hpp"

#include "base/log.hpp"
#include "control/notice/classify.hpp"

namespace tundish::control {
namespace {

template <class T>
const T* body_of(const Change& change) {
  const auto* holder = dynamic_cast<const Holder<T>*>(change.body.get());
  return holder ? &holder->value : nullptr;
}

bool is_open(const Incident& incident) {
  return incident.state == IncidentState::open || incident.state == IncidentState::rma;
}

std::string event_name(NoticeEvent event) {
  return std::string(enum_names(event)[static_cast<std::size_t>(event)]);
}

/// A try again has the key of the first try; the next page has another.
std::string key_of(const Notice& notice) {
  std::string key = notice.object + "/" + event_name(notice.pending);
  const auto classes = enum_names(NoticeClass{});
  if (notice.pending == NoticeEvent::opened) {
    key += "/" + std::string(classes[static_cast<std::size_t>(notice.notice_class)]);
    if (notice.summary.find("; escalated: ") != std::string::npos) key += "/escalated";
  }
  if (notice.pending == NoticeEvent::repeated) key += "/" + std::to_string(notice.repeats + 1);
  return key;
}

}  // namespace

NoticeDesk::NoticeDesk(DeskParts parts, NoticeRules rules)
    : parts_(std::move(parts)), rules_(std::move(rules)) {
  const std::weak_ptr<int> alive = alive_;
  parts_.ledger.on_change([this, alive](const Change& change) {
    if (!alive.expired()) touch(change);
  });
}

void NoticeDesk::start() {
  const Registry& reg = parts_.ledger.view();
  for (const auto& [id, incident] : reg.all<Incident>()) {
    if (is_open(incident)) touched_.insert("incident/" + id.str());
  }
  for (const auto& [id, maintenance] : reg.all<Maintenance>()) {
    if (!is_over(maintenance)) touched_.insert("maintenance/" + id.str());
  }
  for (const auto& [id, notice] : reg.all<Notice>()) {
    if (notice.state != NoticeState::resolved) touched_.insert(notice.object);
  }
  schedule_turn();
}

void NoticeDesk::touch(const Change& change) {
  if (change.kind == Incident::kind || change.kind == Maintenance::kind) {
    touched_.insert(change.kind + "/" + change.id);
  }
  if (const auto* maintenance = body_of<Maintenance>(change)) {
    for (const auto& id : maintenance->recorded) touched_.insert("incident/" + id.str());
  }
  const bool concerns = !touched_.empty() || change.kind == Notice::kind;
  if (concerns) schedule_turn();
}

void NoticeDesk::schedule_turn() {
  if (turn_scheduled_) return;
  turn_scheduled_ = true;
  parts_.scheduler.at(parts_.scheduler.now(), [this, alive = std::weak_ptr<int>(alive_)] {
    if (alive.expired()) return;
    turn_scheduled_ = false;
    turn();
  });
}

void NoticeDesk::turn() {
  for (const auto& object : std::exchange(touched_, {})) follow(object);
  // Nothing is told before its cause and its notice are durable.
  parts_.ledger.after_flush([this, alive = std::weak_ptr<int>(alive_)](const Result<>& durable) {
    if (alive.expired() || !durable) return;
    send_due();
    arm();
  });
  if (parts_.commit_soon) parts_.commit_soon();
}

void NoticeDesk::follow(const std::string& object) {
  const Registry& reg = parts_.ledger.view();
  const std::string id = object.substr(object.find('/') + 1);
  if (const Incident* incident = reg.find(IncidentId(id))) return follow_incident(*incident);
  if (const Maintenance* window = reg.find(MaintenanceId(id))) return follow_maintenance(*window);
}

void NoticeDesk::follow_incident(const Incident& incident) {
  const std::string object = "incident/" + incident.id.str();
  if (!is_open(incident)) return perform(*resolve_notice(object));
  if (auto draft = draft_of(parts_.ledger.view(), rules_, incident)) {
    perform(*open_notice(std::move(*draft)));
  }
}

void NoticeDesk::follow_maintenance(const Maintenance& maintenance) {
  if (auto draft = draft_of(rules_, maintenance)) {
    perform(*open_notice(std::move(*draft)));
  } else if (is_over(maintenance)) {
    perform(*resolve_notice("maintenance/" + maintenance.id.str()));
  }
}

void NoticeDesk::perform(const Operation& operation) {
  const auto done = parts_.ledger.perform(operation, "controller:notice", "");
  if (!done) {
    log(LogLevel::warn, "notice_not_recorded",
        {{"operation", operation.name()}, {"why", done.error().message()}});
  }
}

void NoticeDesk::send_due() {
  if (!parts_.notifier) return;
  const Instant now = parts_.scheduler.now();
  std::vector<Notice> due;
  for (const auto& [id, notice] : parts_.ledger.view().all<Notice>()) {
    const bool waits = notice.pending != NoticeEvent::none && notice.due_at <= now;
    if (waits && !in_flight_.contains(id)) due.push_back(notice);
  }
  for (const auto& notice : due) send(notice);
}

void NoticeDesk::send(const Notice& notice) {
  NoticeMessage message;
  message.key = key_of(notice);
  message.event = notice.pending;
  message.notice = notice;
  const std::string id = notice.object.substr(notice.object.find('/') + 1);
  if (const Incident* incident = parts_.ledger.view().find(IncidentId(id))) {
    message.incident = *incident;
  }
  in_flight_.insert(notice.id);
  parts_.notifier->start(message,
                         [this, notice, alive = std::weak_ptr<int>(alive_)](Result<> result) {
                           if (!alive.expired()) on_delivered(notice, result);
                         });
}

void NoticeDesk::on_delivered(const Notice& sent, const Result<>& result) {
  in_flight_.erase(sent.id);
  if (!result) {
    log(LogLevel::warn, sent.tries + 1 < rules_.most_tries ? "notice_failed" : "notice_given_up",
        {{"about", sent.object},
         {"event", event_name(sent.pending)},
         {"try", sent.tries + 1},
         {"why", result.error().message()}});
  }
  perform(*record_delivery(sent.id, sent.pending, result ? Delivery::arrived : Delivery::failed,
                           result ? "" : result.error().message(), rules_));
  schedule_turn();
}

void NoticeDesk::arm() {
  if (!parts_.notifier) return;
  Instant next;
  for (const auto& [id, notice] : parts_.ledger.view().all<Notice>()) {
    if (notice.pending == NoticeEvent::none || in_flight_.contains(id)) continue;
    if (!next.is_set() || notice.due_at < next) next = notice.due_at;
  }
  const Instant now = parts_.scheduler.now();
  const bool armed = armed_.is_set() && armed_ > now && armed_ <= next;
  if (!next.is_set() || armed) return;
  armed_ = next;
  parts_.scheduler.at(next, [this, next, alive = std::weak_ptr<int>(alive_)] {
    if (alive.expired() || armed_ != next) return;
    armed_ = {};
    schedule_turn();
  });
}

}  // namespace tundish::control

#include "model/ops/notice_ops.hpp"

#include <algorithm>

namespace tundish {
namespace {

std::string about(const Id<Notice>& id) { return "notice/" + id.str(); }

void plan(Notice& notice, NoticeEvent event, Instant at) {
  notice.pending = event;
  notice.due_at = at;
  notice.tries = 0;
}

void plan_repeat(Notice& notice, const NoticeRules& rules, Instant now) {
  const auto name = enum_names(NoticeClass{})[static_cast<std::size_t>(notice.notice_class)];
  const auto rule = rules.classes.find(std::string(name));
  const bool calls = notice.channel == NoticeChannel::page && notice.state == NoticeState::open;
  if (calls && rule != rules.classes.end() && rule->second.repeat_s > 0) {
    plan(notice, NoticeEvent::repeated, now + seconds(rule->second.repeat_s));
  } else {
    plan(notice, NoticeEvent::none, {});
  }
}

Notice draft_notice(Txn& txn, const NoticeDraft& draft) {
  Notice notice;
  notice.id = txn.make_id<Notice>();
  notice.meta.name = notice.id.str();
  notice.object = draft.object;
  notice.opened_at = txn.now();
  return notice;
}

}  // namespace

OperationPtr open_notice(NoticeDraft draft) {
  const std::string object = draft.object;
  return make_operation("open_notice", object, [=](Txn& txn) -> Result<> {
    const Notice* known = txn.view().notice_about(draft.object);
    Notice notice = known ? *known : draft_notice(txn, draft);
    const bool same =
        known && notice.notice_class == draft.notice_class &&
        notice.channel >= draft.rule.channel && notice.state != NoticeState::resolved;
    if (same) return {};
    if (known && notice.state == NoticeState::resolved) return {};  // it is over: told already
    notice.notice_class = draft.notice_class;
    notice.channel = draft.rule.channel;
    notice.summary = draft.summary;
    notice.runbook = draft.runbook;
    notice.drill = draft.drill;
    if (notice.state == NoticeState::acknowledged) {
      txn.put(std::move(notice));  // somebody looks after it already
      return {};
    }
    const bool told = notice.channel != NoticeChannel::log;
    plan(notice, told ? NoticeEvent::opened : NoticeEvent::none, told ? txn.now() : Instant{});
    txn.put(std::move(notice));
    return {};
  });
}

OperationPtr acknowledge_notice(std::string object, std::string by) {
  return make_operation("acknowledge_notice", object, [=](Txn& txn) -> Result<> {
    const Notice* known = txn.view().notice_about(object);
    if (!known || known->state != NoticeState::open) return {};
    Notice notice = *known;
    notice.state = NoticeState::acknowledged;
    notice.acknowledged_by = by;
    notice.acknowledged_at = txn.now();
    const bool told = notice.told > 0;
    plan(notice, told ? NoticeEvent::acknowledged : NoticeEvent::none,
         told ? txn.now() : Instant{});
    txn.put(std::move(notice));
    return {};
  });
}

OperationPtr resolve_notice(std::string object) {
  return make_operation("resolve_notice", object, [=](Txn& txn) -> Result<> {
    const Notice* known = txn.view().notice_about(object);
    if (!known || known->state == NoticeState::resolved) return {};
    Notice notice = *known;
    notice.state = NoticeState::resolved;
    notice.resolved_at = txn.now();
    // Whoever was called learns that it is over; whoever was not is not called for that.
    const bool told = notice.told > 0 || notice.pending != NoticeEvent::none;
    plan(notice, told ? NoticeEvent::resolved : NoticeEvent::none, told ? txn.now() : Instant{});
    txn.put(std::move(notice));
    return {};
  });
}

OperationPtr record_delivery(Id<Notice> id, NoticeEvent event, Delivery delivery, std::string fault,
                             NoticeRules rules) {
  return make_operation("record_delivery", about(id), [=](Txn& txn) -> Result<> {
    Notice notice = TRY(get_object(txn, id));
    if (notice.pending != event) {  // overtaken meanwhile: by an acknowledgement or the end
      if (delivery == Delivery::arrived) ++notice.told;
      txn.put(std::move(notice));
      return {};
    }
    if (delivery == Delivery::arrived) {
      ++notice.told;
      notice.repeats += event == NoticeEvent::repeated ? 1 : 0;
      notice.told_at = txn.now();
      notice.last_fault.clear();
      plan_repeat(notice, rules, txn.now());
      txn.put(std::move(notice));
      return {};
    }
    notice.last_fault = fault;
    ++notice.tries;
    if (notice.tries < rules.most_tries) {
      notice.due_at = txn.now() + pause_after(rules, notice.tries);
    } else {
      ++notice.given_up;
      plan_repeat(notice, rules, txn.now());
    }
    txn.put(std::move(notice));
    return {};
  });
}

Duration pause_after(const NoticeRules& rules, int tries) {
  const Duration longest = seconds(rules.longest_pause_s);
  const int doublings = std::clamp(tries - 1, 0, 20);
  return std::min(longest, seconds(rules.first_pause_s) * (std::int64_t{1} << doublings));
}

}  // namespace tundish

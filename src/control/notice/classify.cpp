#include "control/notice/classify.hpp"

#include <algorithm>

#include "model/ops/maintenance_ops.hpp"

namespace tundish::control {
namespace {

constexpr int least_repeat_s = 60;
constexpr int most_tries = 20;

std::string name_of(NoticeClass notice_class) {
  return std::string(enum_names(NoticeClass{})[static_cast<std::size_t>(notice_class)]);
}

NoticeClass class_of_part(Resource part) {
  switch (part) {
    case Resource::nvswitch:
    case Resource::nic:
    case Resource::link:
    case Resource::leaf: return NoticeClass::fabric;
    case Resource::storage_client:
    case Resource::storage_server: return NoticeClass::storage;
    case Resource::service: return NoticeClass::service;
    case Resource::process: return NoticeClass::job;
    default: return NoticeClass::hardware;
  }
}

NoticeClass class_of_subject(const Incident& incident) {
  switch (incident.subject_kind) {
    case SubjectKind::network_switch:
    case SubjectKind::domain: return NoticeClass::fabric;
    case SubjectKind::storage: return NoticeClass::storage;
    case SubjectKind::engine: return NoticeClass::service;
    case SubjectKind::job: return NoticeClass::job;
    case SubjectKind::rack:
    case SubjectKind::site: return NoticeClass::blind;
    case SubjectKind::node: break;
  }
  if (incident.fault.starts_with("blind")) return NoticeClass::blind;
  if (incident.fault.starts_with("sxid")) return NoticeClass::fabric;
  return incident.blamed ? class_of_part(incident.blamed->part) : NoticeClass::hardware;
}

std::optional<NoticeDraft> make_draft(const NoticeRules& rules, NoticeClass notice_class) {
  const auto rule = rules.classes.find(name_of(notice_class));
  if (rule == rules.classes.end()) return std::nullopt;
  NoticeDraft draft;
  draft.notice_class = notice_class;
  draft.rule = rule->second;
  draft.runbook = rules.runbooks + rule->second.runbook;
  return draft;
}

/// The policy told somebody: at least as loudly as it said, whatever the class is.
void raise(const Incident& incident, NoticeDraft& draft) {
  constexpr int page_repeat_s = 900;
  for (auto entry = incident.timeline.rbegin(); entry != incident.timeline.rend(); ++entry) {
    if (!entry->what.starts_with("escalated: ")) continue;
    const bool page = entry->what == "escalated: page";
    const auto wanted = page ? NoticeChannel::page : NoticeChannel::ticket;
    if (wanted > draft.rule.channel) {
      draft.rule.channel = wanted;
      draft.rule.repeat_s = page ? page_repeat_s : 0;
      draft.summary += "; " + entry->what + " " + entry->detail;
    }
    if (page) return;
  }
}

Error bad_rule(const std::string& name, const std::string& why) {
  return make_error(Code::invalid, "notices: class " + name + " " + why);
}

Result<> check_rule(const std::string& name, const NoticeRule& rule) {
  const auto known = enum_names(NoticeClass{});
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    return bad_rule(name, "is no class of notice");
  }
  if (rule.runbook.empty()) return bad_rule(name, "has no runbook");
  const bool pages = rule.channel == NoticeChannel::page;
  if (pages && rule.repeat_s < least_repeat_s) {
    return bad_rule(name, "pages again after " + std::to_string(rule.repeat_s) +
                              " s: at least 60, and never only once");
  }
  if (!pages && rule.repeat_s != 0) return bad_rule(name, "repeats and is no page");
  return {};
}

}  // namespace

NoticeClass class_of(const Registry& view, const Incident& incident) {
  if (incident.drill) return NoticeClass::drill;
  if (maintenance_over(view, incident)) return NoticeClass::maintenance;
  return class_of_subject(incident);
}

std::optional<NoticeDraft> draft_of(const Registry& view, const NoticeRules& rules,
                                    const Incident& incident) {
  auto draft = make_draft(rules, class_of(view, incident));
  if (!draft) return std::nullopt;
  const Node* node = view.find(incident.node);
  draft->object = "incident/" + incident.id.str();
  draft->drill = incident.drill;
  draft->summary = (incident.drill ? "DRILL " : "") + incident.fault + " on " +
                   (node ? "node " + node->meta.name : incident.subject) +
                   (incident.blame.empty() ? "" : ": " + incident.blame);
  // What is told apart is not raised: a drill is told once, and people work in a window.
  const bool apart = draft->notice_class == NoticeClass::drill ||
                     draft->notice_class == NoticeClass::maintenance;
  if (!apart) raise(incident, *draft);
  return draft;
}

std::optional<NoticeDraft> draft_of(const NoticeRules& rules, const Maintenance& maintenance) {
  if (!maintenance.overrun_since.is_set() || is_over(maintenance)) return std::nullopt;
  auto draft = make_draft(rules, NoticeClass::overrun);
  if (!draft) return std::nullopt;
  draft->object = "maintenance/" + maintenance.id.str();
  draft->summary = maintenance.meta.name + " on " + maintenance.scope + " (" + maintenance.reason +
                   ") was to end at " + render_utc(maintenance.end) + " and goes on";
  return draft;
}

Result<> check_rules(const NoticeRules& rules) {
  for (const auto& [name, rule] : rules.classes) TRY_VOID(check_rule(name, rule));
  for (const auto name : enum_names(NoticeClass{})) {
    if (!rules.classes.contains(std::string(name))) {
      return bad_rule(std::string(name), "has no rule");
    }
  }
  const bool bounded = rules.most_tries >= 1 && rules.most_tries <= most_tries &&
                       rules.first_pause_s >= 1 && rules.longest_pause_s >= rules.first_pause_s;
  if (!bounded) {
    return make_error(Code::invalid, "notices: tries are 1 to 20, pauses begin at 1 s and grow");
  }
  return {};
}

}  // namespace tundish::control

#pragma once
// Which class of notice something is; the catalogue says who is called for a class.
#include "model/ops/notice_ops.hpp"

namespace tundish::control {

/// A drill is a drill whatever it breaks; what is seen inside a maintenance window is told there.
NoticeClass class_of(const Registry& view, const Incident& incident);
/// The notice that an incident or an overrun asks for now; nullopt: none does, or its rule is
/// missing.
std::optional<NoticeDraft> draft_of(const Registry& view, const NoticeRules& rules,
                                    const Incident& incident);
std::optional<NoticeDraft> draft_of(const NoticeRules& rules, const Maintenance& maintenance);
/// Every class has a rule and a runbook, nobody is called more than once a minute, tries and pauses
/// are bounded.
Result<> check_rules(const NoticeRules& rules);

}  // namespace tundish::control

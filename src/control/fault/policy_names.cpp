// Checks that a policy names are ones that agents have.
#include <algorithm>

#include "base/nearest.hpp"
#include "control/fault/policy_problem.hpp"

namespace tundish::control {
namespace {

class NameCheck {
 public:
  NameCheck(const RemediationPolicy& policy, const std::vector<KnownCheck>& known,
            OtherChecks others)
      : policy_(policy), known_(known), others_(others) {}

  std::optional<PolicyProblem> first() {
    for (const auto& [name, check] : policy_.checks) {
      look({"checks", name}, name, CheckKind::passive);
      each({"checks", name, "after"}, check.after, CheckKind::passive);
    }
    for (const auto& [name, state] : policy_.states) {
      each({"states", name, "checks"}, state.checks, CheckKind::passive);
      each({"states", name, "active"}, state.active, CheckKind::active);
    }
    each({"active", "light"}, policy_.active.light, CheckKind::active);
    each({"active", "heavy"}, policy_.active.heavy, CheckKind::active);
    return std::move(first_);
  }

 private:
  void each(std::vector<std::string> path, const std::vector<std::string>& names, CheckKind kind) {
    path.emplace_back();
    for (std::size_t i = 0; i < names.size(); ++i) {
      path.back() = std::to_string(i);
      look(path, names[i], kind);
    }
  }

  void look(const std::vector<std::string>& path, const std::string& name, CheckKind kind) {
    if (first_ || (others_ == OtherChecks::taken && policy_.checks.contains(name))) return;
    const auto found = std::find_if(known_.begin(), known_.end(),
                                    [&](const KnownCheck& one) { return one.name == name; });
    if (found == known_.end()) {
      refuse(path, "no check is called " + name, which_word(name, names_of(kind)));
    } else if (found->kind != kind) {
      const bool active = found->kind == CheckKind::active;
      refuse(path, name + (active ? " is an active check" : " is no active check"),
             active ? "name it under `active`" : which_word(name, names_of(kind)));
    }
  }

  void refuse(const std::vector<std::string>& path, std::string what, std::string remedy) {
    first_ = PolicyProblem{
        path, make_error(Code::invalid, std::move(what)).with_remedy(std::move(remedy))};
  }

  std::vector<std::string> names_of(CheckKind kind) const {
    std::vector<std::string> out;
    for (const auto& one : known_) {
      if (one.kind == kind) out.push_back(one.name);
    }
    return out;
  }

  const RemediationPolicy& policy_;
  const std::vector<KnownCheck>& known_;
  OtherChecks others_;
  std::optional<PolicyProblem> first_;
};

}  // namespace

std::optional<PolicyProblem> find_unknown_check(const RemediationPolicy& policy,
                                                const std::vector<KnownCheck>& known,
                                                OtherChecks others) {
  if (known.empty()) return std::nullopt;
  return NameCheck(policy, known, others).first();
}

}  // namespace tundish::control

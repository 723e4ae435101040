// Dead-locks of peers, encoded from their sources: every one is found, by what it is about, also
// under other names and in another order; the repaired ones are proved.
#include <map>
#include <random>

#include "control/verify/policies_for_test.hpp"

namespace tundish::control::verify {
namespace {

constexpr int shuffles = 5;

Verification verified(const RemediationPolicy& policy) {
  const auto found = verify({policy, shipped_faults(), {}});
  EXPECT_TRUE(found) << policy.name << ": " << (found ? "" : found.error().message());
  return found ? *found : Verification{};
}

TEST(known_bad, every_one_is_found_by_what_it_is_about) {
  const auto all = known_bad();
  EXPECT_GE(all.size(), 27u);
  for (const auto& bad : all) {
    const auto found = verified(bad.policy);
    ASSERT_FALSE(bad.refutes.empty()) << bad.name;
    EXPECT_EQ(refuted_names(found), sorted(bad.refutes)) << bad.name << "\n" << render(found);
  }
}

TEST(known_bad, every_repaired_one_is_proved) {
  for (const auto& bad : known_bad()) {
    const auto found = verified(bad.fixed);
    EXPECT_TRUE(found.is_proved()) << bad.name << "\n" << render(found);
    EXPECT_EQ(found.proved.size(), 11u);
  }
}

TEST(known_bad, every_source_is_named) {
  for (const auto& bad : known_bad()) {
    for (const char* kind : {".yaml", ".fixed.yaml"}) {
      EXPECT_TRUE(text_of("policies/known-bad/" + bad.name + kind).starts_with("# Source: "));
    }
  }
}

/// The same policy under other names: states, checks and faults are called by drawn words, terms
/// and lists stand in a drawn order. Edges keep theirs: it means something.
class Disguise {
 public:
  explicit Disguise(unsigned seed) : draw_(seed) {}

  RemediationPolicy of(const RemediationPolicy& from) {
    for (const auto& [name, state] : from.states) words_[name] = word("s");
    for (const auto& [name, check] : from.checks) words_[name] = word("c");
    RemediationPolicy out = from;
    out.name = word("p");
    out.initial = words_.at(from.initial);
    out.states.clear();
    out.checks.clear();
    for (const auto& [name, state] : from.states) out.states[words_.at(name)] = of(state);
    for (const auto& [name, check] : from.checks) {
      PolicyCheck changed = check;
      for (auto& other : changed.after) other = words_.at(other);
      shuffle(changed.runs_in);
      out.checks[words_.at(name)] = changed;
    }
    for (auto& fault : out.faults) fault.name = fault_word(fault.name);
    shuffle(out.faults);
    return out;
  }

 private:
  std::string word(const std::string& kind) {
    return kind + std::to_string(draw_() % 100000) + "_" + std::to_string(++count_);
  }
  template <class T>
  void shuffle(std::vector<T>& list) {
    std::shuffle(list.begin(), list.end(), draw_);
  }
  /// Beginnings stay beginnings: a prefix in brackets is one word, a whole name another.
  std::string fault_word(const std::string& name) {
    const auto end = name.find(']');
    const std::string head = end == std::string::npos ? name : name.substr(0, end + 1);
    if (!faults_.contains(head)) faults_[head] = "[" + word("f") + "]";
    return faults_.at(head) + (head == name ? "" : " more");
  }
  std::string term(const std::string& from) {
    const std::string mark = from.starts_with('!') ? "!" : "";
    const std::string plain = from.substr(mark.size());
    if (plain.starts_with("budget:")) return mark + "budget:" + words_.at(plain.substr(7));
    if (plain.starts_with("fault:")) return mark + "fault:" + fault_word(plain.substr(6));
    return from;
  }
  PolicyState of(const PolicyState& from) {
    PolicyState out = from;
    out.doc.clear();
    for (auto& check : out.checks) {
      if (words_.contains(check)) check = words_.at(check);
    }
    shuffle(out.checks);
    for (auto& edge : out.next) {
      edge.go = words_.at(edge.go);
      for (auto& each : edge.when) each = term(each);
      shuffle(edge.when);
    }
    return out;
  }

  std::mt19937 draw_;
  int count_ = 0;
  std::map<std::string, std::string> words_, faults_;
};

TEST(known_bad, is_found_under_other_names_and_in_another_order) {
  for (const auto& bad : known_bad()) {
    for (unsigned seed = 1; seed <= shuffles; ++seed) {
      const auto found = verified(Disguise(seed).of(bad.policy));
      EXPECT_EQ(refuted_names(found), sorted(bad.refutes)) << bad.name << " seed " << seed;
      const auto fixed = verified(Disguise(seed + 100).of(bad.fixed));
      EXPECT_TRUE(fixed.is_proved()) << bad.name << " seed " << seed << "\n" << render(fixed);
    }
  }
}

TEST(known_bad, a_prerequisite_that_does_not_exist_is_refused_when_it_is_read) {
  // nebius/soperator (f): a missing prerequisite waits for ever, silently.
  RemediationPolicy policy = known_bad().front().fixed;
  policy.checks["late"].after = {"never"};
  const auto found = verify({policy, {}, {}});
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message().find("it runs after never"), std::string::npos);
}

}  // namespace
}  // namespace tundish::control::verify

#include "model/ops/active_ops.hpp"

#include <algorithm>
#include <set>

#include "model/ops/common.hpp"

namespace tundish {

Verdict make_preempted(std::string check, const std::string& why, Instant at) {
  Verdict out;
  out.check = std::move(check);
  out.reason = std::string(preempted_word) + ": " + why;
  out.at = at;
  return out;
}

OperationPtr record_active_run(NodeId id, std::vector<Verdict> verdicts) {
  std::erase_if(verdicts, is_preempted);
  return make_operation("record_active_run", "node/" + id.str(),
                        [id, verdicts = std::move(verdicts)](Txn& txn) -> Result<> {
                          if (verdicts.empty()) return {};
                          Node node = TRY(get_object(txn, id));
                          std::set<std::string> names;
                          for (const auto& verdict : verdicts) names.insert(verdict.check);
                          auto& kept = node.status.active_verdicts;
                          std::erase_if(kept, [&](const Verdict& old) {
                            return names.contains(old.check);
                          });
                          // The newest come first: where there are too many, old ones go.
                          kept.insert(kept.begin(), verdicts.begin(), verdicts.end());
                          if (kept.size() > most_active_verdicts) kept.resize(most_active_verdicts);
                          txn.put(std::move(node));
                          return {};
                        });
}

}  // namespace tundish

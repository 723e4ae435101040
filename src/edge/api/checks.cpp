#include "control/node/checks.hpp"

#include <algorithm>

#include "base/quote.hpp"
#include "edge/api/contract_health.hpp"
#include "edge/api/handlers.hpp"

namespace tundish::edge::api {
namespace {

Result<> require_known(const Backend& b, const std::vector<std::string>& names) {
  for (const auto& name : names) {
    const bool known = std::any_of(b.parts.checks.begin(), b.parts.checks.end(),
                                   [&](const CheckInfo& check) { return check.name == name; });
    if (known) continue;
    return make_error(Code::not_found, "no check is called " + shorten(name))
        .about("check/" + name)
        .with_remedy("list them: tundish check list");
  }
  return {};
}

}  // namespace

Result<Answer> list_checks(Backend& b, const Call&) {
  std::vector<AnyDescribed> out;
  for (const auto& check : b.parts.checks) out.push_back(describe_const(check));
  return Answer{200, render_json_list(out)};
}

void run_checks_now(Backend& b, const Call& call, Respond respond) {
  const auto asked = parse_body<CheckRunRequest>(call);
  if (!asked) return respond(asked.error());
  if (const auto known = require_known(b, asked->checks); !known) return respond(known.error());
  const auto found = get_matching<Node>(b, call, asked->node);
  if (!found) return respond(found.error());
  const Node node = *found;
  if (call.is_dry_run()) {
    CheckRunAnswer none;
    none.node = node.meta.name;
    return respond(Answer{200, render_json(none)});
  }
  auto names = asked->checks;
  if (names.empty()) names = {"*"};
  const auto view = b.parts.manager.view();
  // A person's order is no repeat of the one before.
  auto action = control::make_checks(view, node, names,
                                     "ask/" + node.id.str() + "/" + std::to_string(b.now().us));
  action.reason = "asked by " + call.who.name;
  b.parts.manager.order(std::move(action), [respond, node](const Result<VerbResult>& done) {
    if (!done) return respond(done.error());
    if (!done->ok) {
      return respond(make_error(Code::unavailable, done->what).about("node/" + node.meta.name));
    }
    CheckRunAnswer answer;
    answer.node = node.meta.name;
    answer.verdicts = done->verdicts;
    respond(Answer{200, render_json(answer)});
  });
}

}  // namespace tundish::edge::api

#include <algorithm>

#include "edge/api/handlers.hpp"
#include "model/ops/node_ops.hpp"

namespace tundish::edge::api {
namespace {

struct Drill {
  Node node;
  Injection injection;
};

Result<Drill> plan_drill(Backend& b, const Call& call) {
  const auto asked = TRY(parse_body<FaultRequest>(call));
  if (!b.parts.injector || !b.parts.render_fault) {
    return make_error(Code::unsupported, "faults cannot be injected here")
        .with_remedy("start tundishd with an injector, as `tundish lab up` does");
  }
  Drill drill;
  drill.node = TRY((get_matching<Node>(b, call, asked.node)));
  const Sku* sku = b.reg().find_named<Sku>(drill.node.spec.sku);
  const int gpus =
      std::max(sku ? sku->spec.gpus : 0, static_cast<int>(drill.node.status.hardware.gpus.size()));
  if (asked.gpu < 0 || asked.gpu >= std::max(gpus, 1)) {
    return make_error(Code::invalid, "node " + drill.node.meta.name + " has no GPU " +
                                         std::to_string(asked.gpu))
        .about("node/" + drill.node.meta.name)
        .with_remedy("it has " + std::to_string(gpus) + " GPUs, counted from 0");
  }
  drill.injection = TRY(b.parts.render_fault(asked, drill.node));
  const std::string what =
      asked.kind + (asked.xid != 0 ? " " + std::to_string(asked.xid) : "") + " on gpu " +
      std::to_string(asked.gpu) + " injected by " + call.who.name + " at " + render_utc(b.now());
  std::vector<OperationPtr> note;
  note.push_back(set_condition(drill.node.id, "drill", Truth::yes, what));
  TRY_VOID(b.perform(call, *compose("inject_fault", "node/" + drill.node.id.str(), std::move(note)),
                     what));
  return drill;
}

}  // namespace

Result<Answer> list_faults(Backend& b, const Call&) {
  std::vector<AnyDescribed> kinds;
  for (const auto& kind : b.parts.fault_kinds) kinds.push_back(describe_const(kind));
  return Answer{200, render_json_list(kinds)};
}

void post_fault(Backend& b, const Call& call, Respond respond) {
  auto drill = plan_drill(b, call);
  if (!drill) b.refuse(call, drill.error().object, drill.error());
  // The hardware fails only once the history says by whom.
  b.after_commit([&b, call, drill = std::move(drill), respond](const Result<>& safe) {
    if (!safe || !drill) return respond(safe ? drill.error() : safe.error());
    const Instant at = b.now();
    b.parts.injector->start(drill->injection, [&b, call, at, drill = *drill,
                                               respond](const Result<>& done) {
      if (!done) {
        b.refuse(call, "node/" + drill.node.id.str(), done.error());
        b.after_commit([respond, error = done.error()](const Result<>&) { respond(error); });
        return;
      }
      FaultAnswer answer;
      answer.node = drill.node.meta.name;
      answer.line = drill.injection.line;
      answer.at = at;
      respond(Answer{200, render_json(answer)});
    });
  });
}

}  // namespace tundish::edge::api

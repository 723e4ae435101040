#include <algorithm>

#include "codec/kernel_log/event.hpp"
#include "edge/api/handlers.hpp"
#include "model/ops/drill_ops.hpp"
#include "model/ops/incident_ops.hpp"

namespace tundish::edge::api {
namespace {

struct Drill {
  Node node;
  Injection injection;
  std::string what;
  DrillMark mark = {};
};

control::Action to_action(const Drill& drill, std::int64_t revision) {
  control::Action action;
  // A person's order is no repeat of the one before.
  action.key = "drill/" + drill.node.id.str() + "/" + std::to_string(revision);
  action.name = "inject_fault";
  action.action_class = ActionClass::drill;
  action.node = drill.node.id;
  action.group = action.key;
  action.reason = drill.what;
  action.limit = seconds(10);
  action.act = control::InjectAct{drill.injection};
  return action;
}

/// By which the incident that follows is known as a drill. What its line will be judged as is what
/// the line says, whoever wrote it.
DrillMark mark_of(Backend& b, const Drill& drill, int gpu) {
  DrillMark mark;
  mark.what = drill.what;
  for (const auto& one : drill.node.status.hardware.gpus) {
    if (one.index == gpu) mark.device = one.pci;
  }
  const auto event = parse_kernel_text(drill.injection.line);
  if (!event) return mark;
  Witness witness;
  witness.event = *event;
  const Judgement judged = judge_witness(b.parts.manager.catalogue(), witness);
  mark.fault = judged.fault;
  if (!judged.fault.empty()) mark.device = judged.device;
  return mark;
}

Result<> perform_note(Backend& b, const Call& call, std::string_view operation, const Drill& drill,
                      OperationPtr note) {
  std::vector<OperationPtr> notes;
  notes.push_back(std::move(note));
  return b.perform(call, *compose(operation, "node/" + drill.node.id.str(), std::move(notes)),
                   drill.what);
}

Result<Drill> plan_drill(Backend& b, const Call& call) {
  const auto asked = TRY(parse_body<FaultRequest>(call));
  if (!b.parts.manager.runner().has_injector() || !b.parts.render_fault) {
    return make_error(Code::unsupported, "faults cannot be injected here")
        .with_remedy("start tundishd with an injector, as `tundish lab up` does");
  }
  Drill drill;
  drill.node = TRY((get_matching<Node>(b, call, asked.node)));
  const Sku* sku = b.reg().find_named<Sku>(drill.node.spec.sku);
  const int gpus =
      std::max(sku ? sku->spec.gpus : 0, static_cast<int>(drill.node.status.hardware.gpus.size()));
  if (asked.gpu < 0 || asked.gpu >= std::max(gpus, 1)) {
    return make_error(Code::invalid,
                      "node " + drill.node.meta.name + " has no GPU " + std::to_string(asked.gpu))
        .about("node/" + drill.node.meta.name)
        .with_remedy("it has " + std::to_string(gpus) + " GPUs, counted from 0");
  }
  drill.injection = TRY(b.parts.render_fault(asked, drill.node));
  drill.what = asked.kind + (asked.xid != 0 ? " " + std::to_string(asked.xid) : "") + " on gpu " +
               std::to_string(asked.gpu) + " injected by " + call.who.name + " at " +
               render_utc(b.now());
  const auto view = b.parts.manager.view();
  const control::Permit leave = control::permit(to_action(drill, view.reg.revision()), view, {});
  if (leave.leave != control::Leave::execute) {
    return make_error(Code::denied, "drill on node " + drill.node.meta.name + ": " + leave.reason)
        .about("node/" + drill.node.meta.name)
        .with_remedy("let it: tundish authority set --scope node:" + drill.node.meta.name +
                     " --class drill --level act");
  }
  if (asked.for_s < 0 || asked.for_s > 24 * 3600 || asked.copies < 0) {
    return make_error(Code::invalid, "for_s is 0 to a day, copies is not below 0");
  }
  drill.mark = mark_of(b, drill, asked.gpu);
  TRY_VOID(perform_note(b, call, "inject_fault", drill, announce_drill(drill.node.id, drill.mark)));
  return drill;
}

FaultAnswer answer_of(const Drill& drill, Instant at) {
  FaultAnswer answer;
  answer.node = drill.node.meta.name;
  answer.line = drill.injection.line;
  answer.at = at;
  return answer;
}

}  // namespace

Result<Answer> list_faults(Backend& b, const Call&) {
  std::vector<AnyDescribed> kinds;
  std::vector<FaultKind> told = b.parts.fault_kinds;
  const bool can = b.parts.manager.runner().has_injector();
  for (auto& kind : told) {
    if (!can && kind.unavailable.empty()) {
      kind.unavailable = "nothing here can break hardware on purpose: no lab";
    }
    kinds.push_back(describe_const(kind));
  }
  return Answer{200, render_json_list(kinds)};
}

void post_fault(Backend& b, const Call& call, Respond respond) {
  if (call.is_dry_run()) {
    Result<Answer> answer;
    b.parts.ledger.rehearse([&] {
      const auto planned = plan_drill(b, call);
      answer = planned ? Result<Answer>(Answer{200, render_json(answer_of(*planned, b.now()))})
                       : Result<Answer>(planned.error());
    });
    return respond(answer);
  }
  auto drill = plan_drill(b, call);
  if (!drill) b.refuse(call, drill.error().object, drill.error());
  // The hardware fails only once the history says by whom.
  b.after_commit([&b, call, drill = std::move(drill), respond](const Result<>& safe) {
    if (!safe || !drill) return respond(safe ? drill.error() : safe.error());
    const Instant at = b.now();
    const auto finish = [&b, call, at, drill = *drill, respond](const Result<VerbResult>& done) {
      if (!done) {
        // Nothing broke, so what comes next is no drill.
        (void)perform_note(b, call, "withdraw_fault", drill,
                           withdraw_drill(drill.node.id, drill.mark));
        b.refuse(call, "node/" + drill.node.id.str(), done.error());
        b.after_commit([respond, error = done.error()](const Result<>&) { respond(error); });
        return;
      }
      respond(Answer{200, render_json(answer_of(drill, at))});
    };
    b.parts.manager.order(to_action(*drill, b.reg().revision()), finish);
  });
}

}  // namespace tundish::edge::api

#include "codec/json.hpp"
#include "runtime/agent/net_probe.hpp"
#include "runtime/agent/verbs.hpp"

namespace tundish::agent {

Result<VerbNote> verb_probe_network(const VerbCall& call, const VerbTools&) {
  if (!call.net_probe) return make_error(Code::invalid, "probe_network has no arguments");
  NetProbeSeen seen = TRY(run_probe(*call.net_probe));
  VerbNote note;
  note.text = render_json(seen);
  return note;
}

}  // namespace tundish::agent

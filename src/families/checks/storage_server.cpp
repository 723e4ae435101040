#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

struct Server {
  std::int64_t silent_seq = -1, back_seq = -1;
  Instant evicted_at;
};

/// A line that a tenant could have written says nothing of a server.
void note(const SampleEvent& seen, std::map<std::string, Server>& servers) {
  if (seen.provenance != Provenance::kernel) return;
  const auto& event = seen.event;
  if (event.kind == KernelEventKind::server_silent) {
    auto& server = servers[event.subject];
    server.silent_seq = std::max(server.silent_seq, seen.seq);
  } else if (event.kind == KernelEventKind::server_back) {
    auto& server = servers[event.subject];
    server.back_seq = std::max(server.back_seq, seen.seq);
  } else if (event.kind == KernelEventKind::client_evicted) {
    servers[event.subject].evicted_at = seen.last_at;
  }
}

Verdicts judge(const CheckSample& sample) {
  if (!sample.events) return {make_unknown("kernel events", sample.events_fault)};
  std::map<std::string, Server> servers;
  for (const auto& seen : *sample.events) note(seen, servers);
  Findings found(sample, "storage_server");
  for (const auto& [name, server] : servers) {
    if (server.silent_seq > server.back_seq)
      found.fail(name, "the server does not answer");
    else if (server.evicted_at.is_set() && found.is_recent("eviction", server.evicted_at)) {
      found.warn(name, "the server gave this client up and took it again");
    }
  }
  if (sample.storage) {
    for (const auto& client : *sample.storage) {
      if (client.type != "lustre" || client.state == "FULL" || client.state == "IDLE") continue;
      found.fail(client.target, "the Lustre client is not connected", client.state);
    }
  }
  return found.take("every storage server answers");
}

}  // namespace

extern const Check storage_server;
const Check storage_server{
    "storage_server",
    "The storage servers that the node uses answer it: the log's word, paired per server, "
    "and the client's own state.",
    "kernel log, nfs: server X not responding and OK, Lustre import state and eviction; "
    "facts/health.md section 2",
    "none: the agent reads the log anyway",
    {"events", "storage", "limits"},
    judge,
    Resource::storage_server,
    Locality::symptom,
    seconds(30),
    Gate::advisory};

}  // namespace tundish::checks

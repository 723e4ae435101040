#include "control/health/causes.hpp"

#include <algorithm>

namespace tundish::control::health {
namespace {

using R = Resource;
// Sources: facts/health.md sections 0 (dirty inodes that starved a storage client), 4 (NVL72), 6
// and 7.2; checked 2026-11.
constexpr CauseRow rows[] = {
    {R::memory, R::cpu, Reach::same_node, Match::overlap, "reclaiming memory takes the CPUs"},
    {R::cpu, R::storage_client, Reach::same_node, Match::overlap,
     "a client that does not get to run answers its server too late"},
    {R::cpu, R::nic, Reach::same_node, Match::overlap,
     "a driver that does not get to run posts its buffers too late"},
    {R::cpu, R::service, Reach::same_node, Match::overlap,
     "a daemon that does not get to run misses its heartbeat"},
    {R::cpu, R::process, Reach::same_node, Match::overlap,
     "tasks that do not get to run look as if they hung"},
    {R::cpu, R::clock, Reach::same_node, Match::overlap,
     "a clock daemon that does not get to run cannot discipline the clock"},
    {R::memory, R::storage_client, Reach::same_node, Match::overlap,
     "a client that waits for memory answers nobody"},
    {R::memory, R::service, Reach::same_node, Match::overlap,
     "the kernel ends daemons when memory is gone"},
    {R::memory, R::process, Reach::same_node, Match::overlap,
     "the kernel ends programs when memory is gone"},
    {R::disk, R::service, Reach::same_node, Match::before, "a daemon that cannot write stops"},
    {R::disk, R::process, Reach::same_node, Match::before, "a task that waits for its disk hangs"},
    {R::pcie, R::gpu, Reach::same_node, Match::same_device, "a GPU behind a bad PCIe link is lost"},
    {R::pcie, R::gpu_memory, Reach::same_node, Match::same_device,
     "a GPU behind a bad PCIe link cannot be read"},
    {R::pcie, R::nic, Reach::same_node, Match::same_device,
     "an adapter behind a bad PCIe link drops packets"},
    {R::power, R::gpu, Reach::same_node, Match::before, "a GPU without its power is lost"},
    {R::thermal, R::gpu, Reach::same_node, Match::before, "a GPU that is too hot slows and stops"},
    {R::cooling, R::thermal, Reach::same_node, Match::before, "a tray that leaks is not cooled"},
    {R::cooling, R::gpu, Reach::same_node, Match::before, "a GPU that gets wet stops"},
    {R::cooling, R::power, Reach::same_node, Match::before, "a tray that leaks may go off"},
    {R::gpu, R::nic, Reach::same_node, Match::before,
     "a GPU that hangs takes no more data: its adapter retries and times out"},
    {R::gpu_memory, R::nic, Reach::same_node, Match::before,
     "a GPU whose memory failed takes no more data: its adapter retries and times out"},
    {R::gpu, R::nvlink, Reach::same_node, Match::before, "links of a lost GPU go down"},
    {R::gpu, R::process, Reach::same_node, Match::before, "programs on a lost GPU are ended"},
    {R::gpu_memory, R::process, Reach::same_node, Match::before,
     "programs on a GPU whose memory failed are ended"},
    {R::nvlink, R::process, Reach::same_node, Match::before,
     "programs whose GPUs cannot reach each other are ended"},
    {R::link, R::nic, Reach::same_node, Match::before, "an adapter without a link counts errors"},
    {R::link, R::storage_client, Reach::same_node, Match::before,
     "a client without a link reaches no server"},
    {R::nic, R::storage_client, Reach::same_node, Match::before,
     "a client whose adapter fails reaches no server"},
    {R::storage_client, R::service, Reach::same_node, Match::before,
     "a daemon that waits for its files stops answering"},
    {R::storage_client, R::process, Reach::same_node, Match::before,
     "tasks that wait for their files hang"},
    {R::storage_server, R::storage_client, Reach::users, Match::overlap,
     "clients of a server that does not answer wait, all of them"},
    {R::leaf, R::link, Reach::users, Match::overlap,
     "a switch that is gone takes the link of every port with it"},
    {R::leaf, R::nic, Reach::users, Match::overlap,
     "a switch that drops is seen by every adapter on it"},
    {R::leaf, R::storage_client, Reach::users, Match::overlap,
     "behind a switch that is gone no server is reached"},
    {R::process, R::process, Reach::users, Match::overlap,
     "one program runs on all nodes of its job"},
    {R::nvswitch, R::nvlink, Reach::users, Match::overlap,
     "a switch tray takes links of many GPUs with it"},
    {R::nvswitch, R::process, Reach::users, Match::overlap,
     "programs across an NVLink domain are ended when its fabric fails"},
    {R::service, R::service, Reach::users, Match::overlap,
     "daemons of an engine whose controller is away complain, all of them"},
    {R::power, R::power, Reach::users, Match::overlap, "nodes of a rack share its feed"},
    {R::thermal, R::thermal, Reach::users, Match::overlap, "nodes of a rack share its cooling"},
    {R::gpu, R::process, Reach::job, Match::before,
     "when one rank of a job is gone, the others are ended"},
    {R::gpu_memory, R::process, Reach::job, Match::before,
     "when one rank of a job is gone, the others are ended"},
    {R::nvlink, R::process, Reach::job, Match::before,
     "when one rank of a job is cut off, the others are ended"}};

}  // namespace

std::span<const CauseRow> cause_rows() { return rows; }

const CauseRow* find_cause(Resource cause, Resource effect, Reach reach) {
  const auto* found = std::find_if(std::begin(rows), std::end(rows), [&](const CauseRow& row) {
    return row.cause == cause && row.effect == effect && row.reach == reach;
  });
  return found == std::end(rows) ? nullptr : found;
}

bool has_outer_cause(Resource effect) {
  return std::any_of(std::begin(rows), std::end(rows), [&](const CauseRow& row) {
    return row.effect == effect && row.reach != Reach::same_node;
  });
}

}  // namespace tundish::control::health

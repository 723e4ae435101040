#include <algorithm>
#include <map>

#include "families/engines/slurm_parts/names.hpp"
#include "families/engines/slurm_parts/parts.hpp"

namespace tundish::slurm_parts {
namespace {

constexpr int ports_base = 7000;
constexpr int ports_per_cluster = 10;
constexpr int slurmd_port = 6818;

int controller_port(const DesiredEngine& desired) {
  return ports_base + ports_per_cluster * desired.index;
}

std::string controller_name(const DesiredEngine& desired) { return desired.cluster + "-ctl"; }

/// Names of databases and their users stand unquoted in what slurmdbd sends.
std::string database_word(const std::string& cluster) {
  std::string word = cluster;
  std::replace(word.begin(), word.end(), '-', '_');
  std::replace(word.begin(), word.end(), '.', '_');
  return word;
}

std::string line(std::string_view key, const std::string& value) {
  return std::string(key) + "=" + value + "\n";
}

std::string gres_of(const DesiredEngine& desired) {
  const std::string type = desired.gres_type.empty() ? "" : desired.gres_type + ":";
  return "gpu:" + type + std::to_string(desired.gpus);
}

std::vector<std::string> members_of(const DesiredEngine& desired) {
  std::vector<std::string> names;
  for (const auto& node : desired.nodes) {
    if (node.role == EngineRole::member) names.push_back(node.name);
  }
  return names;
}

std::string render_daemons(const DesiredEngine& desired) {
  const std::string port = std::to_string(controller_port(desired));
  const std::string dbd_port = std::to_string(controller_port(desired) + 1);
  std::string out;
  out += line("ClusterName", desired.cluster);
  out += line("SlurmctldHost",
              controller_name(desired) + "(" + desired.controller_address + ")");
  out += line("SlurmctldPort", port);
  out += line("SlurmdPort", std::to_string(slurmd_port));
  out += "SlurmUser=slurm\nSlurmdUser=root\nAuthType=auth/munge\nCredType=cred/munge\n";
  // The agent adds lines of its own on the controller, and membership changes without a copy to
  // every node: a hash over the file would only warn.
  out += "DebugFlags=NO_CONF_HASH\n";
  // A controller of another tenant may run on the same machine: listen on our address alone.
  out += "CommunicationParameters=NoCtldInAddrAny\n";
  out += "SlurmctldSyslogDebug=quiet\nSlurmdSyslogDebug=quiet\nMailProg=/bin/true\n";
  out += "AccountingStorageType=accounting_storage/slurmdbd\n";
  out += line("AccountingStorageHost", desired.controller_address);
  out += line("AccountingStoragePort", dbd_port);
  out += "AccountingStorageEnforce=associations\n";
  if (desired.gpus > 0) out += "AccountingStorageTRES=gres/gpu\n";
  out += "JobCompType=jobcomp/none\nJobAcctGatherType=jobacct_gather/none\n";
  return out;
}

std::string render_scheduling(const DesiredEngine& desired) {
  std::string out;
  out += "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nMpiDefault=none\n";
  out += "SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\n";
  out += "TopologyPlugin=topology/tree\nSlurmdParameters=config_overrides\n";
  // The defaults let a job wait 3 s and more before anybody looks at it.
  out += "SchedulerType=sched/backfill\n";
  out += "SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2\n";
  // 1: a node that only fell silent comes back by itself; one that a person set down does not.
  out += "ReturnToService=1\n";
  // Long enough that a claim of ours decides first, short enough to see a node that died alone.
  out += "SlurmdTimeout=120\nSlurmctldTimeout=60\nMessageTimeout=10\n";
  out += "JobRequeue=1\nKillWait=10\nUnkillableStepTimeout=30\nInactiveLimit=0\n";
  // Changed by a restart alone, so it is there before the tenant allows anything: with one
  // partition nothing is ever preempted.
  out += "PreemptType=preempt/partition_prio\nPreemptMode=CANCEL\n";
  if (desired.gpus > 0) out += "GresTypes=gpu\n";
  return out;
}

/// Work of the tenant ends work of this partition at once, and is itself never ended by any.
constexpr int tenant_tier = 10;
constexpr int check_tier = 1;

std::string render_partitions(const DesiredEngine& desired) {
  // A partition without the key is empty; an empty value works too but reads like a mistake.
  const auto members = members_of(desired);
  const std::string nodes = members.empty() ? "" : " Nodes=" + fold_hostlist(members);
  std::string out = "PartitionName=" + desired.partition + nodes +
                    " Default=YES MaxTime=INFINITE State=UP PreemptMode=OFF PriorityTier=" +
                    std::to_string(tenant_tier) + "\n";
  if (!desired.checks_since.is_set()) return out;
  const std::string name(check_work_name);
  return out + "PartitionName=" + name + nodes +
         " Default=NO MaxTime=INFINITE State=UP PreemptMode=CANCEL GraceTime=0 PriorityTier=" +
         std::to_string(check_tier) + " OverSubscribe=EXCLUSIVE AllowAccounts=" + name + "\n";
}

std::string render_nodes(const DesiredEngine& desired) {
  const int cpus = std::max(desired.cpus, 1);
  const int sockets = desired.sockets > 0 && cpus % desired.sockets == 0 ? desired.sockets : 1;
  std::string out = "NodeName=DEFAULT CPUs=" + std::to_string(cpus) +
                    " SocketsPerBoard=" + std::to_string(sockets) +
                    " CoresPerSocket=" + std::to_string(cpus / sockets) +
                    " ThreadsPerCore=1 RealMemory=" + std::to_string(desired.memory_mib);
  if (desired.gpus > 0) out += " Gres=" + gres_of(desired);
  out += "\n";
  for (const auto& node : desired.nodes) {
    out += "NodeName=" + node.name + " NodeAddr=" + node.address + "\n";
  }
  return out;
}

std::string render_gres(const DesiredEngine& desired) {
  if (desired.gpus <= 0) return "";
  const std::string last = std::to_string(desired.gpus - 1);
  const std::string files = desired.gpus == 1 ? "0" : "[0-" + last + "]";
  const std::string type = desired.gres_type.empty() ? "" : " Type=" + desired.gres_type;
  // With Count alone the node would show no GPU and be drained (22.05).
  return "Name=gpu" + type + " File=/dev/nvidia" + files + "\n";
}

std::string render_topology(const DesiredEngine& desired) {
  std::map<std::string, std::vector<std::string>> leaves;
  for (const auto& node : desired.nodes) {
    leaves[node.leaf.empty() ? "unknown-leaf" : node.leaf].push_back(node.name);
  }
  std::string out;
  std::string names;
  for (const auto& [leaf, nodes] : leaves) {
    out += "SwitchName=" + leaf + " Nodes=" + fold_hostlist(nodes) + "\n";
    names += (names.empty() ? "" : ",") + leaf;
  }
  if (leaves.size() > 1) out += "SwitchName=tundish-top Switches=" + names + "\n";
  return out;
}

std::string render_dbd(const DesiredEngine& desired) {
  const std::string word = database_word(desired.cluster);
  std::string out = "AuthType=auth/munge\nSlurmUser=slurm\n";
  out += line("DbdHost", controller_name(desired));
  out += line("DbdAddr", desired.controller_address);
  out += line("DbdPort", std::to_string(controller_port(desired) + 1));
  out += "DebugLevelSyslog=quiet\nStorageType=accounting_storage/mysql\nStorageHost=localhost\n";
  out += line("StorageUser", "slurm_" + word);
  out += line("StorageLoc", "slurm_acct_" + word);
  out += line("StoragePass", std::string(password_placeholder));
  return out;
}

}  // namespace

std::vector<EngineFile> render_files(const DesiredEngine& desired) {
  return {
      {"slurm.conf", render_daemons(desired) + render_scheduling(desired) + render_nodes(desired) +
                         render_partitions(desired)},
      {"gres.conf", render_gres(desired)},
      // slurmd loads a cgroup plugin even when nothing uses one, and v1 alone starts without a
      // mounted hierarchy and without systemd.
      {"cgroup.conf", "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n"},
      {"topology.conf", render_topology(desired)},
      {"slurmdbd.conf", render_dbd(desired)},
  };
}

}  // namespace tundish::slurm_parts

#include "edge/api/partition_rows.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "control/network/difference.hpp"
#include "control/network/port_tables.hpp"
#include "control/network/reconcile_switch.hpp"

namespace tundish::edge::api {
namespace {

namespace net = control::network;

std::string text_of(const PkeyObserved& entry) {
  const bool full = entry.membership == IbMembership::full;
  return net::pkey_text(entry.pkey | (full ? 0x8000 : 0));
}

std::string table_of(const FabricPort& port) {
  std::vector<std::string> out;
  for (const auto& entry : port.pkeys) out.push_back(text_of(entry));
  return join(out, " ");
}

class PartitionRows {
 public:
  PartitionRows(const control::View& view, const Network& network, const Fabric& fabric)
      : network_(network),
        fabric_(fabric),
        intent_(net::intent_of(view, fabric.meta.name)),
        is_driven_(!fabric.spec.management_url.empty()) {
    const auto found = view.seen.fabrics.find(fabric.meta.name);
    if (found == view.seen.fabrics.end() || !found->second.at.is_set()) return;
    seen_ = &found->second;
    age_ms_ = (view.now - seen_->at).ms();
    is_fresh_ = is_driven_ && view.now - seen_->at <= net::stale_after;
  }

  std::vector<NetworkRow> make() {
    add_partition();
    std::set<std::string> guids;
    for (const auto& one : intent_.networks) {
      if (one.id == network_.id) guids = one.guids;
    }
    for (const auto& guid : guids) add_port(guid);
    if (seen_) add_strangers(guids);
    return std::move(rows_);
  }

 private:
  const IbPartitionState* find(const FabricState& state) const {
    for (const auto& one : state.partitions) {
      if (one.pkey == network_.status.pkey) return &one;
    }
    return nullptr;
  }

  NetworkRow& add(const std::string& item) {
    NetworkRow row;
    row.object = fabric_.meta.name;
    row.item = item;
    row.age_ms = age_ms_;
    if (!is_driven_) row.observed = "nobody drives the fabric: it has no management_url";
    rows_.push_back(std::move(row));
    return rows_.back();
  }

  static std::string text_of(const IbPartitionState& partition) {
    return "PKey " + net::pkey_text(partition.pkey) + ", " +
           std::to_string(partition.members.size()) + " members";
  }

  void add_partition() {
    NetworkRow& row = add("partition " + partition_name(network_.status.vrf_id));
    const FabricState plan = net::plan_fabric(intent_, fabric_.meta.name);
    const IbPartitionState* wanted = find(plan);
    const IbPartitionState* there = seen_ ? find(seen_->seen.own) : nullptr;
    if (wanted) row.wanted = text_of(*wanted);
    if (there) row.observed = text_of(*there);
    if (!is_fresh_) return;
    if (seen_->seen.default_is_full) {
      row.observed = "ports are full members of the default partition: nobody is isolated";
      row.state = NetworkRowState::differs;
      return;
    }
    FabricState one, other;
    if (wanted) one.partitions.push_back(*wanted);
    if (there) other.partitions.push_back(*there);
    const auto all = net::differences(intent_, one, other);
    row.state = all.empty() ? NetworkRowState::same
                : !there    ? NetworkRowState::missing
                            : NetworkRowState::differs;
    if (!all.empty() && there) row.observed = net::name_guids(intent_, all.front().what);
    if (seen_->seen.unclear.empty()) return;
    row.state = NetworkRowState::differs;
    row.observed += " | not understood: " + join(seen_->seen.unclear, " | ");
  }

  void add_port(const std::string& guid) {
    const int pkey = network_.status.pkey;
    NetworkRow& row = add("port " + net::name_guids(intent_, guid));
    row.wanted = net::pkey_text(pkey | 0x8000);
    if (!seen_ || !seen_->has_tables) return;
    for (const auto& port : seen_->ports) {
      if (port.guid == guid && port.has_table) row.observed = table_of(port);
    }
    if (!is_fresh_) return;
    const std::string stranger = net::stranger_in(*seen_, fabric_.spec.partitions, guid, pkey);
    switch (net::carries(*seen_, guid, pkey)) {
      case net::Carries::yes:
        row.state = stranger.empty() ? NetworkRowState::same : NetworkRowState::differs;
        if (!stranger.empty()) row.observed += " (" + stranger + ")";
        return;
      case net::Carries::no: row.state = NetworkRowState::missing; return;
      case net::Carries::silent: row.observed = "did not answer"; return;
      case net::Carries::down: row.observed = "is down"; return;
    }
  }

  /// Ports that carry the network's PKey and must not.
  void add_strangers(const std::set<std::string>& guids) {
    for (const auto& port : seen_->ports) {
      if (guids.contains(port.guid)) continue;
      if (net::carries(*seen_, port.guid, network_.status.pkey) != net::Carries::yes) continue;
      NetworkRow& row = add("port " + net::name_guids(intent_, port.guid));
      row.observed = table_of(port);
      if (is_fresh_) row.state = NetworkRowState::foreign;
    }
  }

  const Network& network_;
  const Fabric& fabric_;
  net::Intent intent_;
  bool is_driven_ = false;
  const control::FabricObserved* seen_ = nullptr;
  std::int64_t age_ms_ = -1;
  bool is_fresh_ = false;
  std::vector<NetworkRow> rows_;
};

}  // namespace

std::vector<NetworkRow> partition_rows(const control::View& view, const Network& network) {
  if (network.status.pkey == 0) return {};
  const Fabric* fabric = view.reg.find_named<Fabric>(network.status.partition_fabric);
  if (fabric) return PartitionRows(view, network, *fabric).make();
  NetworkRow row;
  row.object = network.status.partition_fabric;
  row.item = "partition " + partition_name(network.status.vrf_id);
  row.observed = "the fabric is no longer declared";
  return {row};
}

}  // namespace tundish::edge::api

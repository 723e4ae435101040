#include "model/registry.hpp"

namespace tundish {
namespace {

template <class T>
const T* as(const ObjectBase& object) {
  const auto* holder = dynamic_cast<const Holder<T>*>(&object);
  return holder ? &holder->value : nullptr;
}

bool is_open(const Incident* incident) {
  return incident &&
         (incident->state == IncidentState::open || incident->state == IncidentState::rma);
}

bool is_active(const Claim* claim) { return claim && claim->state == ClaimState::active; }

template <std::size_t I = 0>
std::unique_ptr<ObjectBase> make_nth(std::string_view kind) {
  if constexpr (I == std::tuple_size_v<Tables>) {
    return nullptr;
  } else {
    using T = typename std::tuple_element_t<I, Tables>::mapped_type;
    if (kind == T::kind) return std::make_unique<Holder<T>>();
    return make_nth<I + 1>(kind);
  }
}

}  // namespace

std::unique_ptr<ObjectBase> make_object(std::string_view kind) { return make_nth<>(kind); }

bool Registry::adopt(const ObjectBase& object) {
  bool taken = false;
  const auto take = [&]<class T>(Table<T>*) {
    if (const T* value = as<T>(object)) {
      set<T>(value->id, value);
      taken = true;
    }
  };
  std::apply([&](auto&... table) { (take(&table), ...); }, tables_);
  revision_ = std::max(revision_, object.meta().revision);
  return taken;
}

const std::set<Id<Claim>>& Registry::claims_on(const NodeId& node) const {
  static const std::set<Id<Claim>> none;
  const auto it = claims_on_.find(node);
  return it == claims_on_.end() ? none : it->second;
}

const std::set<IncidentId>& Registry::incidents_on(const NodeId& node) const {
  static const std::set<IncidentId> none;
  const auto it = incidents_on_.find(node);
  return it == incidents_on_.end() ? none : it->second;
}

const std::set<MaintenanceId>& Registry::windows_of(const NodeId& node) const {
  static const std::set<MaintenanceId> none;
  const auto it = windows_of_.find(node);
  return it == windows_of_.end() ? none : it->second;
}

const Notice* Registry::notice_about(const std::string& object) const {
  const auto it = notice_about_.find(object);
  return it == notice_about_.end() ? nullptr : find(it->second);
}

const Token* Registry::find_token(const std::string& hash) const {
  const auto it = token_by_hash_.find(hash);
  return it == token_by_hash_.end() ? nullptr : find(it->second);
}

void Registry::index(const Claim* before, const Claim* after) {
  if (is_active(before)) {
    claims_on_[before->node].erase(before->id);
    if (claims_on_[before->node].empty()) claims_on_.erase(before->node);
  }
  if (is_active(after)) claims_on_[after->node].insert(after->id);
}

void Registry::index(const Incident* before, const Incident* after) {
  if (is_open(before)) {
    incidents_on_[before->node].erase(before->id);
    if (incidents_on_[before->node].empty()) incidents_on_.erase(before->node);
  }
  if (is_open(after)) incidents_on_[after->node].insert(after->id);
}

void Registry::index(const Token* before, const Token* after) {
  if (before) token_by_hash_.erase(before->hash);
  if (after) token_by_hash_[after->hash] = after->id;
}

void Registry::index(const Maintenance* before, const Maintenance* after) {
  if (before) {
    for (const auto& one : before->nodes) {
      windows_of_[one.node].erase(before->id);
      if (windows_of_[one.node].empty()) windows_of_.erase(one.node);
    }
  }
  if (!after || is_over(*after)) return;
  for (const auto& one : after->nodes) windows_of_[one.node].insert(after->id);
}

void Registry::index(const Notice* before, const Notice* after) {
  if (before) notice_about_.erase(before->object);
  if (after) notice_about_[after->object] = after->id;
}

void Txn::undo() {
  for (auto it = undo_.rbegin(); it != undo_.rend(); ++it) (*it)();
  undo_.clear();
  changes_.clear();
}

}  // namespace tundish

#pragma once
// What a caller may see of which object. A tenant sees its own; what it does not see is not there.
#include <optional>
#include <string>

#include "base/quote.hpp"
#include "edge/api/auth.hpp"
#include "model/registry.hpp"

namespace tundish::edge::api {

/// The tenant that an object is shown to; nullopt: to the operator only. Empty: to everybody.
template <class T>
std::optional<TenantId> owner_of(const Registry&, const T&) {
  return std::nullopt;
}
template <class T>
std::optional<TenantId> own_tenant(const T& object) {
  if (object.meta.tenant.empty()) return std::nullopt;
  return object.meta.tenant;
}
std::optional<TenantId> owner_of(const Registry& view, const Tenant& tenant);
std::optional<TenantId> owner_of(const Registry& view, const User& user);
std::optional<TenantId> owner_of(const Registry& view, const Token& token);
std::optional<TenantId> owner_of(const Registry& view, const Secret& secret);
std::optional<TenantId> owner_of(const Registry& view, const Cluster& cluster);
std::optional<TenantId> owner_of(const Registry& view, const Allocation& allocation);
std::optional<TenantId> owner_of(const Registry& view, const Node& node);
std::optional<TenantId> owner_of(const Registry& view, const Incident& incident);
std::optional<TenantId> owner_of(const Registry& view, const Network& network);
std::optional<TenantId> owner_of(const Registry& view, const NodeReport& report);
/// What may be ordered is no secret.
std::optional<TenantId> owner_of(const Registry& view, const Sku& sku);

template <class T>
bool is_visible(const Registry& view, const Identity& who, const T& object) {
  if (who.tenant.empty()) return true;
  const std::optional<TenantId> owner = owner_of(view, object);
  return owner && (owner->empty() || *owner == who.tenant);
}

/// One on a shared part may hit several tenants: each of them sees its own side of it.
bool is_visible(const Registry& view, const Identity& who, const Incident& incident);

/// Takes out what the caller may not see: hashes and sealed values always, the operator's view of
/// a node and an incident for tenants.
template <class T>
void redact(const Identity&, T&) {}
void redact(const Identity& who, Token& token);
void redact(const Identity& who, Secret& secret);
void redact(const Identity& who, Node& node);
void redact(const Identity& who, Incident& incident);
void redact(const Identity& who, Allocation& allocation);
void redact(const Identity& who, Cluster& cluster);
void redact(const Identity& who, Network& network);
void redact(const Identity& who, NodeReport& report);

/// What is not stored: names of objects that are meant, where the caller may see them.
template <class T>
void add_names(const Registry&, const Identity&, T&) {}
void add_names(const Registry& view, const Identity& who, Incident& incident);
void add_names(const Registry& view, const Identity& who, Node& node);

template <class T>
std::optional<T> shape(const Registry& view, const Identity& who, const T& object) {
  if (!is_visible(view, who, object)) return std::nullopt;
  T copy = object;
  add_names(view, who, copy);
  redact(who, copy);
  return copy;
}

template <class T>
const T* find_visible(const Registry& view, const Identity& who, const std::string& name) {
  const T* found = view.find_named<T>(name);
  if (found && is_visible(view, who, *found)) return found;
  // Names are unique per tenant only: another tenant's object of the name must not hide this one.
  if (!who.tenant.empty()) {
    found = view.find_named<T>(name, who.tenant);
    if (found && is_visible(view, who, *found)) return found;
  }
  return nullptr;
}

template <class T>
Error missing_error(const Registry& view, const Identity& who, const std::string& name) {
  const std::string what = std::string(T::kind) + " " + shorten(name);
  const std::string object = std::string(T::kind) + "/" + shorten(name);
  int same = 0;
  if (who.tenant.empty()) {
    for (const auto& [id, other] : view.all<T>()) same += other.meta.name == name ? 1 : 0;
  }
  if (same > 1) {
    return make_error(Code::conflict, what + " names " + std::to_string(same) + " objects")
        .about(object)
        .with_remedy("use the id");
  }
  return make_error(Code::not_found, what + " does not exist").about(object);
}

}  // namespace tundish::edge::api

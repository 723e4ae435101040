#include "edge/api/handlers.hpp"
#include "model/ops/tenancy_ops.hpp"

namespace tundish::edge::api {
namespace {

/// The object just put under a name: what a create answers with.
template <class T>
Result<Later> show_new(Backend& b, const Call& call, const std::string& name,
                       const TenantId& tenant) {
  for (const auto& [id, object] : b.reg().all<T>()) {
    if (object.meta.name == name && object.meta.tenant == tenant) {
      return show_later(b, call, object, 201);
    }
  }
  return make_error(Code::internal, std::string(T::kind) + " " + name + " was not stored");
}

}  // namespace

Result<Later> post_tenant(Backend& b, const Call& call) {
  const auto asked = TRY(parse_body<TenantRequest>(call));
  TRY_VOID(b.perform(call, *create_tenant(asked.name, {asked.gpu_quota})));
  return show_new<Tenant>(b, call, asked.name, {});
}

Result<Later> delete_tenant_call(Backend& b, const Call& call) {
  const Tenant tenant = TRY((get_matching<Tenant>(b, call, call.parts.at(0))));
  TRY_VOID(b.perform(call, *delete_tenant(tenant.id)));
  return show_later(b, call, tenant);
}

Result<Later> put_quota(Backend& b, const Call& call) {
  const auto asked = TRY(parse_body<QuotaRequest>(call));
  const Tenant tenant = TRY((get_matching<Tenant>(b, call, call.parts.at(0))));
  if (asked.gpus < 0) {
    return make_error(Code::invalid, "quota of tenant " + tenant.meta.name + " is below 0")
        .about("tenant/" + tenant.meta.name)
        .with_remedy("give a number of GPUs from 0; 0 lets it order nothing");
  }
  TRY_VOID(b.perform(call, *set_quota(tenant.id, asked.gpus)));
  return show_later(b, call, tenant);
}

Result<Later> post_user(Backend& b, const Call& call) {
  const auto asked = TRY(parse_body<UserRequest>(call));
  const Tenant tenant = TRY(resolve_tenant(b, call, asked.tenant));
  TRY_VOID(b.perform(call, *create_user(tenant.id, asked.name, asked.ssh_keys)));
  return show_new<User>(b, call, asked.name, tenant.id);
}

Result<Later> delete_user_call(Backend& b, const Call& call) {
  const User user = TRY((get_matching<User>(b, call, call.parts.at(0))));
  TRY_VOID(b.perform(call, *delete_user(user.id)));
  return show_later(b, call, user);
}

Result<Later> post_secret(Backend& b, const Call& call) {
  auto read = parse_body<SecretRequest>(call);
  // The parser's message may quote the body, and refusals are kept in the history.
  if (!read) return make_error(Code::invalid, "the body is no request for a secret");
  SecretRequest asked = std::move(*read);
  TRY_VOID(require_valid_name("secret", asked.name));
  if (asked.value.empty()) {
    return make_error(Code::invalid, "secret " + asked.name + " has no value");
  }
  TenantId tenant;
  if (!asked.tenant.empty()) tenant = TRY(resolve_tenant(b, call, asked.tenant)).id;
  const std::string sealed = b.parts.seal_secret(asked.value);
  TRY_VOID(b.perform(call, *put_secret(asked.name, asked.purpose, sealed, tenant)));
  const Secret* stored = b.reg().find_named<Secret>(asked.name);
  if (!stored) return make_error(Code::internal, "secret " + asked.name + " was not stored");
  return show_later(b, call, *stored, 201);
}

Result<Later> delete_secret_call(Backend& b, const Call& call) {
  const Secret secret = TRY((get_matching<Secret>(b, call, call.parts.at(0))));
  TRY_VOID(b.perform(call, *delete_secret(secret.id)));
  return show_later(b, call, secret);
}

}  // namespace tundish::edge::api

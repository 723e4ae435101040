#include "base/quote.hpp"
#include "base/text.hpp"
#include "edge/api/handlers.hpp"
#include "model/ops/tenancy_ops.hpp"

namespace tundish::edge::api {
namespace {

constexpr int token_bytes = 32;
constexpr std::int64_t longest_life_s = 100LL * 365 * 24 * 3600;

Result<Role> read_role(const std::string& text) {
  const auto names = enum_names(Role{});
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return static_cast<Role>(i);
  }
  return make_error(Code::invalid, in_quotes(text) + " is no role")
      .with_remedy("use viewer, member, tenant-admin, auditor, on-call or operator");
}

const Node* find_by_mac(const Registry& view, const std::string& mac) {
  for (const auto& [id, node] : view.all<Node>()) {
    if (node.spec.bmc_mac == mac) return &node;
  }
  return nullptr;
}

/// A one-time token with which the agent of one node gets its identity.
Result<Token> make_enrolment(Backend& b, const Call& call, const TokenRequest& asked) {
  if (!call.who.tenant.empty()) {
    return make_error(Code::denied, "enrolment tokens are made by the operator");
  }
  if (!asked.tenant.empty() || (!asked.role.empty() && asked.role != "agent")) {
    return make_error(Code::invalid, "an enrolment token has no tenant and no role");
  }
  const Node* node = find_by_mac(b.reg(), to_lower(asked.node));
  if (!node) {
    return make_error(Code::not_found, "no node has BMC MAC " + shorten(asked.node))
        .with_remedy("declare it first: tundish inventory import");
  }
  Token token;
  token.role = Role::agent;
  token.node = node->spec.bmc_mac;
  token.one_time = true;
  token.meta.name =
      asked.name.empty() ? "enrol-" + node->meta.name + "-" + b.parts.random.hex(4) : asked.name;
  return token;
}

Result<Token> make_person(Backend& b, const Call& call, const TokenRequest& asked) {
  Token token;
  token.role = TRY(read_role(asked.role));
  if (!asked.tenant.empty() || !call.who.tenant.empty()) {
    token.meta.tenant = TRY(resolve_tenant(b, call, asked.tenant)).id;
  }
  TRY_VOID(check_role_side(token.role, token.meta.tenant));
  TRY_VOID(require_valid_name("token", asked.name));
  token.meta.name = asked.name;
  return token;
}

}  // namespace

Result<Later> post_token(Backend& b, const Call& call) {
  const auto asked = TRY(parse_body<TokenRequest>(call));
  Token token =
      asked.node.empty() ? TRY(make_person(b, call, asked)) : TRY(make_enrolment(b, call, asked));
  if (asked.valid_s < 0 || asked.valid_s > longest_life_s) {
    return make_error(Code::invalid, "valid_s of token " + token.meta.name + " is out of range");
  }
  if (asked.valid_s > 0) token.expires_at = b.now() + seconds(asked.valid_s);
  const std::string clear = "tnd_" + b.parts.random.hex(token_bytes);
  token.hash = b.parts.hash_token(clear);
  TRY_VOID(b.perform(call, *create_token(token)));
  const Token* stored = b.reg().find_token(token.hash);
  if (!stored) return make_error(Code::internal, "token " + asked.name + " was not stored");
  TokenAnswer answer;
  answer.token = clear;
  answer.object = *stored;
  redact(call.who, answer.object);
  return Later([answer] { return Answer{201, render_json(answer)}; });
}

Result<Later> delete_token_call(Backend& b, const Call& call) {
  const Token token = TRY((get_matching<Token>(b, call, call.parts.at(0))));
  TRY_VOID(b.perform(call, *delete_token(token.id)));
  return show_later(b, call, token);
}

}  // namespace tundish::edge::api

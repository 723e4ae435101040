#include "base/quote.hpp"
#include "edge/api/handlers.hpp"
#include "model/ops/governance_ops.hpp"
#include "model/ops/node_ops.hpp"

namespace tundish::edge::api {
namespace {

constexpr std::int64_t longest_hold_s = 10LL * 365 * 24 * 3600;

Result<Later> decide(Backend& b, const Call& call, ProposalState decision) {
  const auto asked = TRY(parse_body<ReasonRequest>(call));
  const Proposal proposal = TRY((get_matching<Proposal>(b, call, call.parts.at(0))));
  std::vector<OperationPtr> parts;
  parts.push_back(decide_proposal(proposal.id, decision));
  // A lemon is retired by the person who says yes, never by itself.
  const bool retires = proposal.action == "retire_node" && decision == ProposalState::approved;
  if (retires) {
    const std::string name = proposal.object.substr(proposal.object.find('/') + 1);
    parts.push_back(retire_node(TRY((get_visible<Node>(b, call, name))).id));
  }
  TRY_VOID(b.perform(call, *compose("decide_proposal", "proposal/" + proposal.id.str(),
                                    std::move(parts)), asked.reason));
  return show_later(b, call, proposal);
}

template <class T>
Result<std::string> named_scope(const Backend& b, const Call& call, const std::string& name) {
  const T object = TRY((get_visible<T>(b, call, name)));
  return std::string(T::kind) + ":" + object.meta.name;
}

/// The scope by the object's name, as permits compare it: a hold on a typing error would hold
/// nothing and look as if it did.
Result<std::string> read_scope(const Backend& b, const Call& call, const std::string& scope) {
  TRY_VOID(require_scope(scope));
  const auto colon = scope.find(':');
  if (colon == std::string::npos) return scope;
  const std::string kind = scope.substr(0, colon);
  const std::string name = scope.substr(colon + 1);
  if (kind == Site::kind) return named_scope<Site>(b, call, name);
  if (kind == Rack::kind) return named_scope<Rack>(b, call, name);
  if (kind == Tenant::kind) return named_scope<Tenant>(b, call, name);
  if (kind == Cluster::kind) return named_scope<Cluster>(b, call, name);
  if (kind == Switch::kind) return named_scope<Switch>(b, call, name);
  if (kind == Fabric::kind) return named_scope<Fabric>(b, call, name);
  return named_scope<Node>(b, call, name);
}

Result<AuthorityLevel> read_level(const std::string& text) {
  const auto names = enum_names(AuthorityLevel{});
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return static_cast<AuthorityLevel>(i);
  }
  return make_error(Code::invalid, in_quotes(text) + " is no level of authority")
      .with_remedy("use observe, advise or act");
}

}  // namespace

Result<Later> approve_proposal(Backend& b, const Call& call) {
  return decide(b, call, ProposalState::approved);
}
Result<Later> deny_proposal(Backend& b, const Call& call) {
  return decide(b, call, ProposalState::denied);
}

Result<Later> post_hold(Backend& b, const Call& call) {
  const auto asked = TRY(parse_body<HoldRequest>(call));
  const std::string scope = TRY(read_scope(b, call, asked.scope));
  if (asked.for_s < 0 || asked.for_s > longest_hold_s) {
    return make_error(Code::invalid, "for_s of the hold is out of range");
  }
  const Instant until = asked.for_s > 0 ? b.now() + seconds(asked.for_s) : Instant{};
  const std::string reason = asked.reason.empty() ? call.header("x-reason") : asked.reason;
  TRY_VOID(b.perform(call, *set_hold(scope, reason, until), reason));
  const Hold* newest = nullptr;
  for (const auto& [id, hold] : b.reg().all<Hold>()) {
    if (!newest || hold.meta.revision > newest->meta.revision) newest = &hold;
  }
  if (!newest) return make_error(Code::internal, "the hold was not stored");
  return show_later(b, call, *newest, 201);
}

Result<Later> delete_hold(Backend& b, const Call& call) {
  const Hold hold = TRY((get_matching<Hold>(b, call, call.parts.at(0))));
  TRY_VOID(b.perform(call, *release_hold(hold.id)));
  return show_later(b, call, hold);
}

Result<Later> put_authority(Backend& b, const Call& call) {
  const auto asked = TRY(parse_body<AuthorityRequest>(call));
  const std::string scope = TRY(read_scope(b, call, asked.scope));
  const AuthorityLevel level = TRY(read_level(asked.level));
  TRY_VOID(b.perform(call, *set_authority(scope, asked.action_class, level)));
  for (const auto& [id, authority] : b.reg().all<Authority>()) {
    if (authority.scope == scope && authority.action_class == asked.action_class) {
      return show_later(b, call, authority);
    }
  }
  return make_error(Code::internal, "the authority was not stored");
}

}  // namespace tundish::edge::api

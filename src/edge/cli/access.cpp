// token, secret: values that are shown once or never.
#include <istream>
#include <iterator>
#include <ostream>

#include "base/text.hpp"
#include "codec/utf8.hpp"
#include "edge/api/contract.hpp"
#include "edge/cli/catalogue_files.hpp"
#include "edge/cli/nouns.hpp"
#include "edge/cli/simple_kind.hpp"

namespace tundish::edge::cli {
namespace {

struct TokenArgs {
  std::string name, role, tenant, node;
  Duration valid;
};

Result<int> create_token(Context& context, const TokenArgs& args) {
  TokenRequest request;
  request.name = args.name;
  request.role = args.role;
  request.tenant = args.tenant;
  request.node = args.node;
  request.valid_s = args.valid.s();
  const auto body = TRY(context.change({"POST", api_path({"tokens"}), render_json(request)}));
  if (!body) return exit_done;
  const int code = TRY(show_object<TokenAnswer>(
      context, *body, [](const TokenAnswer& answer) { return answer.token + "\n"; }));
  context.note("token " + args.name + " created; this is the only time it is shown");
  return code;
}

Listing<Token> token_listing(const ApiClient& client) {
  const Names tenants = load_names<Tenant>(client, "tenants");
  return {{"NAME", "ROLE", "TENANT", "NODE", "EXPIRES", "LAST USED"},
          [tenants](const Token& token) -> Cells {
            const std::string node = token.node + (token.one_time ? " (once)" : "");
            return {name_of(token),
                    word(token.role),
                    name_in(tenants, token.meta.tenant.str()),
                    or_dash(node),
                    token.expires_at.is_set() ? render_local(token.expires_at) : "never",
                    render_local(token.last_used_at)};
          }};
}

constexpr std::size_t largest_secret = 1 << 20;

struct SecretArgs {
  std::string name, purpose, tenant, file;
};

Result<std::string> read_value(Context& context, const std::string& file) {
  std::string value;
  if (file.empty()) {
    std::istream& in = context.terminal().in;
    value.assign(std::istreambuf_iterator<char>(in), {});
  } else {
    value = TRY(read_bytes(file, largest_secret));
  }
  if (find_invalid_utf8(value)) {  // it would be stored as something else
    return make_error(Code::invalid, "the value of the secret is not UTF-8")
        .with_remedy("encode it first, for example with base64");
  }
  // What an editor or `echo` adds is no part of a password.
  if (!value.empty() && value.back() == '\n') value.pop_back();
  if (value.empty()) {
    return make_error(Code::invalid, "the value of the secret is empty")
        .with_remedy("give it on standard input or with --file");
  }
  return value;
}

Result<int> create_secret(Context& context, const SecretArgs& args) {
  SecretRequest request;
  request.name = args.name;
  request.purpose = args.purpose;
  request.tenant = args.tenant;
  request.value = TRY(read_value(context, args.file));
  const auto body =
      TRY(context.change({"POST", api_path({"secrets"}), render_json(request)}, Privacy::hidden));
  if (!body) return exit_done;
  return show_object<Secret>(context, *body, [](const Secret& secret) {
    return "secret " + name_of(secret) + " stored for " + secret.purpose + "\n";
  });
}

Listing<Secret> secret_listing(const ApiClient& client) {
  const Names tenants = load_names<Tenant>(client, "tenants");
  return {{"NAME", "PURPOSE", "TENANT", "SINCE"}, [tenants](const Secret& secret) -> Cells {
            return {name_of(secret), or_dash(secret.purpose),
                    name_in(tenants, secret.meta.tenant.str()),
                    render_local(secret.meta.created_at)};
          }};
}

void add_secret(Command root, Context& context) {
  Command noun = root.noun("secret", "values that are stored encrypted and never shown");
  const KindWords words{"secrets", "secret"};
  add_list<Secret>(noun, context, words, secret_listing);
  add_show<Secret>(noun, context, words);
  add_delete(noun, context, words, "what uses it stops working, and its value is gone for good");
  const auto args = std::make_shared<SecretArgs>();
  Command create = noun.verb("create", "store a value, read from standard input or a file");
  create.take({"name", "name of the secret", Need::required}, args->name);
  create.take({"--purpose", "bmc_password, webhook ...", Need::required}, args->purpose);
  create.take({"--tenant", "empty: the operator's"}, args->tenant);
  create.take({"--file", "file with the value; without it standard input"}, args->file);
  create.run([&context, args] { return create_secret(context, *args); });
}

}  // namespace

void add_access(Command root, Context& context) {
  add_secret(root, context);
  Command noun = root.noun("token", "bearer tokens of people and agents");
  const KindWords words{"tokens", "token"};
  add_list<Token>(noun, context, words, token_listing);
  add_show<Token>(noun, context, words);
  add_delete(noun, context, words, "whoever uses it is locked out at once");
  const auto args = std::make_shared<TokenArgs>();
  Command create = noun.verb("create", "make a token; it is printed once");
  create.take({"name", "name of the token", Need::required}, args->name);
  create.take({"--role",
               "what it may do; agent tokens are made with --node",
               Need::optional,
               {"viewer", "member", "tenant-admin", "auditor", "on-call", "operator", "agent"}},
              args->role);
  create.take({"--tenant", "tenant that it is confined to; empty: operator side"}, args->tenant);
  create.take({"--node", "BMC MAC: a one-time enrolment token of that node"}, args->node);
  create.take({"--valid", "for how long, for example 1h; without it for ever"}, args->valid);
  create.run([&context, args]() -> Result<int> {
    if (args->role.empty() && args->node.empty()) {
      return context.fail_flag(
          "token create: --role is required (or --node for an enrolment token)");
    }
    return create_token(context, *args);
  });
}

}  // namespace tundish::edge::cli

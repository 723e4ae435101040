// tenant, user, quota.
#include <fstream>
#include <ostream>
#include <sstream>

#include "base/text.hpp"
#include "edge/api/contract.hpp"
#include "edge/cli/nouns.hpp"
#include "edge/cli/simple_kind.hpp"

namespace tundish::edge::cli {
namespace {

struct TenantArgs {
  std::string name;
  int gpus = 0;
};

Result<int> create_tenant(Context& context, const TenantArgs& args) {
  const TenantRequest request{args.name, args.gpus};
  return change_and_show<Tenant>(context, {"POST", api_path({"tenants"}), render_json(request)},
                                 [](const Tenant& tenant) {
                                   return "tenant " + name_of(tenant) + " created, quota " +
                                          count_of(tenant.spec.gpu_quota, "GPU") + "\n";
                                 });
}

Result<int> set_quota(Context& context, const TenantArgs& args) {
  const QuotaRequest request{args.gpus};
  return change_and_show<Tenant>(
      context, {"PUT", api_path({"tenants", args.name, "quota"}), render_json(request)},
      [](const Tenant& tenant) {
        return "tenant " + name_of(tenant) + " has a quota of " +
               count_of(tenant.spec.gpu_quota, "GPU") + "\n";
      });
}

const Listing<Tenant>& tenant_listing() {
  static const Listing<Tenant> listing{
      {"NAME", "GPU QUOTA", "SINCE"}, [](const Tenant& tenant) -> Cells {
        return {name_of(tenant), std::to_string(tenant.spec.gpu_quota),
                render_local(tenant.meta.created_at)};
      }};
  return listing;
}

struct UserArgs {
  std::string name, tenant;
  std::vector<std::string> keys;
};

bool is_public_key(const std::string& text) {
  return text.rfind("ssh-", 0) == 0 || text.rfind("ecdsa-", 0) == 0 || text.rfind("sk-", 0) == 0;
}

/// A key as text, or the keys in a file, one a line.
Result<std::vector<std::string>> read_keys(const std::string& given) {
  if (is_public_key(given)) return std::vector<std::string>{given};
  std::ifstream file(given);
  if (!file) {
    return make_error(Code::invalid, given + " is neither a public key nor a file that can be read")
        .with_remedy("give the text of the key, or a file such as ~/.ssh/id_ed25519.pub");
  }
  std::vector<std::string> keys;
  for (std::string line; std::getline(file, line);) {
    const std::string key(trim(line));
    if (key.empty() || key.front() == '#') continue;
    if (!is_public_key(key)) {
      return make_error(Code::invalid, given + " holds something else than public keys")
          .with_remedy("the public key is the file that ends in .pub; never give the private one");
    }
    keys.push_back(key);
  }
  if (keys.empty()) return make_error(Code::invalid, given + " holds no public key");
  return keys;
}

Result<int> create_user(Context& context, const UserArgs& args) {
  UserRequest request;
  request.name = args.name;
  request.tenant = args.tenant;
  for (const auto& given : args.keys) {
    for (auto& key : TRY(read_keys(given))) request.ssh_keys.push_back(std::move(key));
  }
  return change_and_show<User>(
      context, {"POST", api_path({"users"}), render_json(request)}, [](const User& user) {
        return "user " + name_of(user) + " created with " +
               count_of(static_cast<int>(user.spec.ssh_keys.size()), "key") + "\n";
      });
}

Listing<User> user_listing(const ApiClient& client) {
  const Names tenants = load_names<Tenant>(client, "tenants");
  return {{"NAME", "TENANT", "UID", "KEYS"}, [tenants](const User& user) -> Cells {
            return {name_of(user), name_in(tenants, user.meta.tenant.str()),
                    std::to_string(user.spec.uid), std::to_string(user.spec.ssh_keys.size())};
          }};
}

void add_tenant(Command root, Context& context) {
  Command noun = root.noun("tenant", "who uses nodes");
  const KindWords words{"tenants", "tenant"};
  add_list_and_show<Tenant>(noun, context, words, tenant_listing());
  add_delete(noun, context, words, "its users, tokens and secrets go with it");
  const auto args = std::make_shared<TenantArgs>();
  Command create = noun.verb("create", "admit a tenant");
  create.take({"name", "letters, digits, - and _", Need::required}, args->name);
  create.take({"--gpus", "quota in GPUs; spares do not count", Need::required}, args->gpus);
  create.run([&context, args] { return create_tenant(context, *args); });
}

void add_quota(Command root, Context& context) {
  Command noun = root.noun("quota", "how many GPUs a tenant may hold");
  const KindWords words{"tenants", "tenant"};
  add_list_and_show<Tenant>(noun, context, words, tenant_listing());
  const auto args = std::make_shared<TenantArgs>();
  Command create = noun.verb("create", "set a tenant's quota");
  create.take({"tenant", "name or id", Need::required}, args->name);
  create.take({"--gpus", "new quota", Need::required}, args->gpus);
  create.run([&context, args] { return set_quota(context, *args); });
}

}  // namespace

void add_tenancy(Command root, Context& context) {
  add_tenant(root, context);
  add_quota(root, context);
  Command noun = root.noun("user", "people who log in to clusters");
  const KindWords words{"users", "user"};
  add_list<User>(noun, context, words, user_listing);
  add_show<User>(noun, context, words);
  add_delete(noun, context, words, "it can no longer log in to the tenant's clusters");
  const auto args = std::make_shared<UserArgs>();
  Command create = noun.verb("create", "admit a user of a tenant");
  create.take({"name", "login name", Need::required}, args->name);
  create.take({"--tenant", "name or id; a tenant's own token need not say it"}, args->tenant);
  create.take(
      {"--ssh-key", "public key, or a file that holds some; may be repeated", Need::required},
      args->keys);
  create.run([&context, args] { return create_user(context, *args); });
}

}  // namespace tundish::edge::cli

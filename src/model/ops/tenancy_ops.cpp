#include "model/ops/tenancy_ops.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"

namespace tundish {
namespace {

/// First numeric id of tenant users: above every system and login account of Debian.
constexpr int first_uid = 20000;

int free_uid(const Registry& view) {
  std::set<int> used;
  for (const auto& [id, user] : view.all<User>()) used.insert(user.spec.uid);
  int uid = first_uid;
  while (used.contains(uid)) ++uid;
  return uid;
}

/// Accounts that a Debian machine or the engine has, or may get: nobody's login name.
bool is_reserved(const std::string& name) {
  static const std::set<std::string> names = {
      "root",   "daemon",   "bin",     "sys",   "sync",     "games",    "man",     "lp",
      "mail",   "news",     "uucp",    "proxy", "www-data", "backup",   "list",    "irc",
      "gnats",  "nobody",   "_apt",    "sshd",  "munge",    "slurm",    "mysql",   "messagebus",
      "frr",    "postgres", "tundish", "admin", "sudo",     "adm",      "tty",     "disk",
      "shadow", "kmem",     "staff",   "users", "nogroup",  "operator", "polkitd", "ntp",
      "chrony", "lldpd",    "_lldpd",  "statd", "rpc"};
  return names.contains(name) || name.starts_with("systemd-") || name.starts_with("_");
}

bool is_ssh_key(const std::string& key) {
  const bool known = key.starts_with("ssh-ed25519 ") || key.starts_with("ssh-rsa ") ||
                     key.starts_with("ecdsa-sha2-") || key.starts_with("sk-");
  return known && key.find('\n') == std::string::npos && key.size() < 8192;
}

}  // namespace

int gpus_in_use(const Registry& view, const TenantId& tenant) {
  int total = 0;
  for (const auto& [id, allocation] : view.all<Allocation>()) {
    if (allocation.meta.tenant != tenant) continue;
    if (allocation.status.phase == AllocationPhase::released) continue;
    const Sku* sku = view.find_named<Sku>(allocation.spec.sku);
    total += allocation.spec.nodes * (sku ? sku->spec.gpus : 0);
  }
  return total;
}

Result<> check_export_name(const std::string& name) {
  const bool fits = !name.empty() && name.size() <= 31 && name[0] >= 'a' && name[0] <= 'z' &&
                    std::all_of(name.begin(), name.end(), [](char c) {
                      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
                    });
  if (fits) return {};
  return make_error(Code::invalid, "tenant " + name + " cannot have an export of that name")
      .about("tenant/" + name)
      .with_remedy("name it with 1 to 31 of a-z, 0-9 and -, beginning with a letter");
}

OperationPtr create_tenant(std::string name, TenantSpec spec) {
  const std::string object = "tenant/" + name;
  const auto create = [name = std::move(name), spec](Txn& txn) -> Result<> {
    TRY_VOID(require_valid_name("tenant", name));
    TRY_VOID(require_new_name<Tenant>(txn, name, {}));
    for (const auto& [id, fabric] : txn.view().all<Fabric>()) {
      if (!fabric.spec.storage_url.empty()) TRY_VOID(check_export_name(name));
    }
    if (spec.gpu_quota < 0) {
      return make_error(Code::invalid, "quota of tenant " + name + " is below 0")
          .about("tenant/" + name)
          .with_remedy("give a number of GPUs from 0; 0 lets it order nothing");
    }
    Tenant tenant;
    tenant.id = txn.make_id<Tenant>();
    tenant.meta.name = name;
    tenant.spec = spec;
    txn.put(std::move(tenant));
    return {};
  };
  return make_operation("create_tenant", object, create);
}

OperationPtr delete_tenant(TenantId id) {
  return make_operation("delete_tenant", "tenant/" + id.str(), [id](Txn& txn) -> Result<> {
    const Tenant tenant = TRY(get_object(txn, id));
    for (const auto& [cluster_id, cluster] : txn.view().all<Cluster>()) {
      if (cluster.meta.tenant != id) continue;
      return make_error(Code::conflict,
                        "tenant " + tenant.meta.name + " still has cluster " + cluster.meta.name)
          .with_remedy("delete it first: tundish cluster delete " + cluster.meta.name);
    }
    std::vector<Id<User>> users;
    for (const auto& [user_id, user] : txn.view().all<User>()) {
      if (user.meta.tenant == id) users.push_back(user_id);
    }
    std::vector<Id<Token>> tokens;
    for (const auto& [token_id, token] : txn.view().all<Token>()) {
      if (token.meta.tenant == id) tokens.push_back(token_id);
    }
    for (const auto& user : users) txn.erase(user);
    for (const auto& token : tokens) txn.erase(token);
    txn.erase(id);
    return {};
  });
}

OperationPtr set_quota(TenantId id, int gpus) {
  return make_operation("set_quota", "tenant/" + id.str(), [id, gpus](Txn& txn) -> Result<> {
    Tenant tenant = TRY(get_object(txn, id));
    const int used = gpus_in_use(txn.view(), id);
    if (gpus < used) {
      return make_error(Code::conflict, "tenant " + tenant.meta.name + " uses " +
                                            std::to_string(used) + " GPUs, more than " +
                                            std::to_string(gpus))
          .with_remedy("scale its clusters down first");
    }
    tenant.spec.gpu_quota = gpus;
    ++tenant.meta.version;
    txn.put(std::move(tenant));
    return {};
  });
}

OperationPtr create_user(TenantId tenant, std::string name, std::vector<std::string> ssh_keys) {
  const std::string object = "user/" + name;
  return make_operation(
      "create_user", object,
      [tenant, name = std::move(name), keys = std::move(ssh_keys)](Txn& txn) -> Result<> {
        const Tenant owner = TRY(get_object(txn, tenant));
        TRY_VOID(require_valid_name("user", name));
        if (name.size() > 31 || name != to_lower(name)) {
          return make_error(Code::invalid, "user name " + name + " cannot be a login name")
              .with_remedy("use at most 31 lower-case letters, digits, - or _");
        }
        if (is_reserved(name)) {
          return make_error(Code::invalid, "user name " + name + " belongs to the machine")
              .with_remedy("choose another name");
        }
        TRY_VOID(require_new_name<User>(txn, name, tenant));
        for (const auto& key : keys) {
          if (is_ssh_key(key)) continue;
          return make_error(Code::invalid, "an SSH key of user " + name + " is not a public key")
              .with_remedy("give one line as in id_ed25519.pub");
        }
        User user;
        user.id = txn.make_id<User>();
        user.meta.name = name;
        user.meta.tenant = tenant;
        user.spec.ssh_keys = keys;
        user.spec.uid = free_uid(txn.view());
        txn.put(std::move(user));
        return {};
      });
}

OperationPtr delete_user(Id<User> id) {
  return make_operation("delete_user", "user/" + id.str(), [id](Txn& txn) -> Result<> {
    TRY(get_object(txn, id));
    txn.erase(id);
    return {};
  });
}

OperationPtr create_token(Token token) {
  const std::string object = "token/" + token.meta.name;
  return make_operation("create_token", object, [token = std::move(token)](Txn& txn) -> Result<> {
    TRY_VOID(require_new_name<Token>(txn, token.meta.name, token.meta.tenant));
    if (txn.view().find_token(token.hash)) {
      return make_error(Code::conflict, "token " + token.meta.name + " exists already");
    }
    Token copy = token;
    copy.id = txn.make_id<Token>();
    txn.put(std::move(copy));
    return {};
  });
}

OperationPtr touch_token(Id<Token> id) {
  return make_operation("touch_token", "token/" + id.str(), [id](Txn& txn) -> Result<> {
    Token token = TRY(get_object(txn, id));
    if (txn.now() - token.last_used_at < token_use_pause) return {};
    token.last_used_at = txn.now();
    txn.put(std::move(token));
    return {};
  });
}

OperationPtr delete_token(Id<Token> id) {
  return make_operation("delete_token", "token/" + id.str(), [id](Txn& txn) -> Result<> {
    TRY(get_object(txn, id));
    txn.erase(id);
    return {};
  });
}

OperationPtr enrol_agent(Id<Token> one_time, NodeId node_id, std::string identity_hash) {
  return make_operation(
      "enrol_agent", "node/" + node_id.str(),
      [one_time, node_id, hash = std::move(identity_hash)](Txn& txn) -> Result<> {
        const Token spent = TRY(get_object(txn, one_time));
        Node node = TRY(get_object(txn, node_id));
        if (!spent.one_time) return make_error(Code::denied, "not an enrolment token");
        std::vector<Id<Token>> older;
        for (const auto& [id, token] : txn.view().all<Token>()) {
          if (!token.one_time && token.role == Role::agent && token.node == node_id.str()) {
            older.push_back(id);
          }
        }
        for (const auto& id : older) txn.erase(id);
        Token identity;
        identity.id = txn.make_id<Token>();
        identity.meta.name = "agent-" + node.meta.name;
        identity.hash = hash;
        identity.role = Role::agent;
        identity.node = node_id.str();
        txn.put(std::move(identity));
        node.status.enrolled = true;
        txn.put(std::move(node));
        return {};
      });
}

OperationPtr spend_enrolment(NodeId node_id) {
  return make_operation(
      "spend_enrolment", "node/" + node_id.str(), [node_id](Txn& txn) -> Result<> {
        const Node node = TRY(get_object(txn, node_id));
        std::vector<Id<Token>> spent;
        for (const auto& [id, token] : txn.view().all<Token>()) {
          if (token.one_time && token.role == Role::agent && token.node == node.spec.bmc_mac) {
            spent.push_back(id);
          }
        }
        for (const auto& id : spent) txn.erase(id);
        return {};
      });
}

OperationPtr put_secret(std::string name, std::string purpose, std::string sealed,
                        TenantId tenant) {
  const std::string object = "secret/" + name;
  return make_operation("put_secret", object, [=](Txn& txn) -> Result<> {
    Secret secret;
    for (const auto& [id, known] : txn.view().all<Secret>()) {
      if (known.meta.name == name && known.meta.tenant == tenant) secret = known;
    }
    if (!secret.id.empty()) {
      ++secret.meta.version;
    } else {
      secret.id = txn.make_id<Secret>();
      secret.meta.name = name;
      secret.meta.tenant = tenant;
    }
    secret.purpose = purpose;
    secret.sealed = sealed;
    txn.put(std::move(secret));
    return {};
  });
}

OperationPtr delete_secret(Id<Secret> id) {
  return make_operation("delete_secret", "secret/" + id.str(), [id](Txn& txn) -> Result<> {
    TRY(get_object(txn, id));
    txn.erase(id);
    return {};
  });
}

}  // namespace tundish

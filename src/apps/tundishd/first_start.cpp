#include "apps/tundishd/first_start.hpp"

#include "base/text.hpp"
#include "codec/yaml.hpp"
#include "model/ops/governance_ops.hpp"
#include "model/ops/network_ops.hpp"
#include "model/ops/node_ops.hpp"
#include "model/ops/tenancy_ops.hpp"
#include "runtime/process/process.hpp"
#include "runtime/secret_box.hpp"

namespace tundish::tundishd {
namespace {

constexpr const char* why = "first start";

/// Readable by root only, shown nowhere else.
Result<> make_operator(const std::string& file, control::Ledger& ledger, Random& random) {
  std::string clear;
  if (const auto given = process::read_file(file)) {
    clear = std::string(trim(*given));
  } else {
    clear = random.hex(32);
    TRY_VOID(process::write_file_atomic(file, clear + "\n", 0600));
  }
  if (clear.size() < 32) {
    return make_error(Code::invalid, file + " holds no token of at least 32 characters")
        .with_remedy("remove the file; a new token is made");
  }
  Token token;
  token.meta.name = "first-operator";
  token.role = Role::operator_;
  token.hash = hash_token(clear);
  return ledger.perform(*create_token(std::move(token)), "system", why);
}

Result<> make_enrolments(const std::string& file, control::Ledger& ledger) {
  const std::string text = TRY(process::read_file(file));
  for (const auto& line : split(text, '\n')) {
    const auto parts = split(trim(line), ' ');
    if (parts.size() != 2) continue;
    Token token;
    token.meta.name = "enrol-" + parts[0];
    token.role = Role::agent;
    token.node = parts[0];
    token.one_time = true;
    token.hash = hash_token(parts[1]);
    TRY_VOID(ledger.perform(*create_token(std::move(token)), "system", why));
  }
  return {};
}

Result<> set_site_authority(const DaemonConfig& config, control::Ledger& ledger) {
  const auto names = enum_names(AuthorityLevel{});
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] != config.authority) continue;
    TRY_VOID(ledger.perform(*put_site(config.site), "system", why));
    if (i == 0) return {};  // observe is what holds where nothing is said
    // A lab is its own world: whatever sites its sheets name, all of it was made by `lab up`.
    const std::string scope = config.lab_socket.empty() ? "site:" + config.site : "*";
    return ledger.perform(*set_authority(scope, "*", static_cast<AuthorityLevel>(i)), "system",
                          why);
  }
  return make_error(Code::invalid, "authority " + config.authority + " is not known")
      .with_remedy("use observe, advise or act");
}

}  // namespace

namespace {

struct FabricEntry {
  std::string name;
  FabricSpec spec;
  void fields(Fields& f) {
    f(1, "name", name, "as switches and orders name it");
    f(2, "spec", spec, "ranges, prefixes, manager");
  }
};
struct FabricsFile {
  std::vector<FabricEntry> fabrics;
  void fields(Fields& f) { f(1, "fabrics", fabrics, "one entry per fabric"); }
};

Result<FabricsFile> load_fabrics(const DaemonConfig& config) {
  const std::string text = TRY(process::read_file(config.fabrics_file));
  FabricsFile file;
  TRY_VOID(parse_yaml(text, file, config.fabrics_file));
  for (const auto& entry : file.fabrics) {
    if (entry.spec.storage_url.empty() || !config.switch_key_file.empty()) continue;
    return make_error(Code::invalid, "fabric " + entry.name + ": storage " +
                                         entry.spec.storage_url + " has no credentials")
        .about("fabric/" + entry.name)
        .with_remedy("set switch_key_file to a key that opens it, or leave storage_url out");
  }
  return file;
}

}  // namespace

Result<> declare_fabrics(const DaemonConfig& config, control::Ledger& ledger) {
  if (config.fabrics_file.empty()) return {};
  FabricsFile file = TRY(load_fabrics(config));
  for (auto& entry : file.fabrics) {
    TRY_VOID(
        ledger.perform(*put_fabric(entry.name, std::move(entry.spec)), "system", "fabrics_file"));
  }
  return ledger.flush();
}

Result<int> check_fabrics(const DaemonConfig& config) {
  if (config.fabrics_file.empty()) return 0;
  FabricsFile file = TRY(load_fabrics(config));
  Registry empty;
  for (auto& entry : file.fabrics) {
    Txn txn(empty, Instant{1}, "system");
    TRY_VOID(put_fabric(entry.name, std::move(entry.spec))->perform(txn));
  }
  return static_cast<int>(file.fabrics.size());
}

Result<> prepare_first_start(const DaemonConfig& config, control::Ledger& ledger, Random& random) {
  for (const auto& [id, token] : ledger.view().all<Token>()) {
    if (token.role == Role::operator_) return {};
  }
  const std::string file = config.operator_token_file.empty() ? config.state_dir + "/operator.token"
                                                              : config.operator_token_file;
  TRY_VOID(make_operator(file, ledger, random));
  if (!config.enrol_tokens_file.empty()) {
    TRY_VOID(make_enrolments(config.enrol_tokens_file, ledger));
  }
  TRY_VOID(set_site_authority(config, ledger));
  return ledger.flush();
}

}  // namespace tundish::tundishd

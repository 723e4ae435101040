#include "runtime/agent/stages.hpp"

#include "base/text.hpp"
#include "runtime/agent/teardown.hpp"

namespace tundish::agent {
namespace {

/// Words behind "inet" in `ip -o -4 addr show`.
std::vector<std::string> parse_addresses(const std::string& text) {
  std::vector<std::string> out;
  for (const auto& line : split(text, '\n')) {
    bool next = false;
    for (const auto& word : split(line, ' ')) {
      if (next && !word.empty()) {
        out.push_back(word);
        next = false;
      }
      if (word == "inet") next = true;
    }
  }
  return out;
}

Result<std::string> run_ip_for(const AddressPlan& plan, std::vector<std::string> args,
                               Duration limit) {
  if (!plan.network.empty()) args.insert(args.begin(), {"-n", plan.network});
  return run_ip(std::move(args), limit);
}

Result<std::vector<std::string>> addresses_on(const AddressPlan& plan, Duration limit) {
  return parse_addresses(TRY(run_ip_for(
      plan, {"-o", "-4", "addr", "show", "dev", plan.interface, "scope", "global"}, limit)));
}

}  // namespace

std::string Stages::render() const { return join(times_, ", "); }

Result<> apply_address(const AddressPlan& plan, Duration limit) {
  const std::string wanted = plan.address + "/" + std::to_string(plan.prefix_length);
  const auto present = TRY(addresses_on(plan, limit));
  bool has = false;
  bool has_others = false;
  for (const auto& address : present) {
    if (address == plan.beside) continue;
    (address == wanted ? has : has_others) = true;
  }
  if (plan.others == Others::flush && has_others) {
    TRY(run_ip_for(plan, {"addr", "flush", "dev", plan.interface, "scope", "global"}, limit));
    has = false;
  }
  TRY(run_ip_for(plan, {"link", "set", plan.interface, "up"}, limit));
  if (!has) TRY(run_ip_for(plan, {"addr", "add", wanted, "dev", plan.interface}, limit));
  return {};
}

Result<> remove_address(const AddressPlan& plan, Duration limit) {
  const std::string unwanted = plan.address + "/" + std::to_string(plan.prefix_length);
  for (const auto& address : TRY(addresses_on(plan, limit))) {
    if (address != unwanted) continue;
    TRY(run_ip_for(plan, {"addr", "del", unwanted, "dev", plan.interface}, limit));
  }
  return {};
}

std::string render_names(const std::vector<HostEntry>& entries) {
  std::string out;
  for (const auto& entry : entries) out += entry.address + " " + entry.name + "\n";
  return out;
}

}  // namespace tundish::agent

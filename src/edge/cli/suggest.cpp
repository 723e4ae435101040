#include "edge/cli/suggest.hpp"

#include <map>

#include "control/inventory/cell.hpp"
#include "edge/cli/context.hpp"

namespace tundish::edge::cli {
namespace {

/// Kinds that have a noun of their own name, and where the API lists them.
const std::map<std::string, std::string>& plurals() {
  static const std::map<std::string, std::string> known = {{"node", "nodes"},
                                                           {"rack", "racks"},
                                                           {"site", "sites"},
                                                           {"switch", "switches"},
                                                           {"fabric", "fabrics"},
                                                           {"sku", "skus"},
                                                           {"cable", "cables"},
                                                           {"tenant", "tenants"},
                                                           {"user", "users"},
                                                           {"token", "tokens"},
                                                           {"secret", "secrets"},
                                                           {"cluster", "clusters"},
                                                           {"network", "networks"},
                                                           {"maintenance", "maintenances"},
                                                           {"notice", "notices"},
                                                           {"rma", "rmas"},
                                                           {"allocation", "allocations"},
                                                           {"claim", "claims"},
                                                           {"incident", "incidents"},
                                                           {"proposal", "proposals"},
                                                           {"hold", "holds"},
                                                           {"authority", "authorities"}};
  return known;
}

std::vector<std::string> names_of(const Context& context, const std::string& plural) {
  std::vector<std::string> names;
  const auto client = context.connect();
  if (!client) return names;
  const auto items = client->list(api_path({plural}));
  if (!items) return names;
  for (const auto& item : *items) {
    const auto object = JsonValue::parse(item);
    if (!object) continue;
    const std::string name = object->at("meta").at("name").as_text().value_or("");
    names.push_back(name.empty() ? object->at("id").as_text().value_or("") : name);
  }
  return names;
}

}  // namespace

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  const std::string near = control::inventory::nearest(word, known);
  return near.empty() ? "" : "did you mean " + near + "?";
}

std::string suggest_object(const Context& context, const std::string& object) {
  const auto slash = object.find('/');
  if (slash == std::string::npos) return "";
  const std::string kind = object.substr(0, slash);
  const auto found = plurals().find(kind);
  if (found == plurals().end()) return "";
  const std::string near = did_you_mean(object.substr(slash + 1), names_of(context, found->second));
  return (near.empty() ? "" : near + " ") + "see `tundish " + kind + " list`";
}

}  // namespace tundish::edge::cli

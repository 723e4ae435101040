// rack, site, switch, sku, cable: list and show.
#include "model/physical.hpp"

#include <algorithm>

#include "edge/api/contract_network.hpp"
#include "edge/cli/nouns.hpp"
#include "edge/cli/simple_kind.hpp"
#include "model/network.hpp"

namespace tundish::edge::cli {

namespace {

/// All that is wrong with it, the longest standing first: a switch that is away can also have a
/// cable that ends elsewhere.
std::vector<Condition> faults_of(const std::vector<Condition>& conditions) {
  std::vector<Condition> out;
  for (const auto& condition : conditions) {
    if (condition.state == Truth::yes) out.push_back(condition);
  }
  std::ranges::stable_sort(out, {}, &Condition::since);
  return out;
}

std::string state_of(const std::vector<Condition>& faults) {
  std::string out;
  for (const auto& fault : faults)
    out += (out.empty() ? "" : "; ") + fault.type + ": " + fault.reason;
  return out.empty() ? "-" : out;
}

void add_switch(Command noun, Context& context) {
  add_list<Switch>(noun, context, {"switches", "switch"}, [](const ApiClient& client) {
    Names proofs;
    const auto drivers = get_objects<SwitchDriverInfo>(client, api_path({"switch-drivers"}));
    if (drivers) {
      for (const auto& driver : *drivers) proofs[driver.name] = driver.proof;
    }
    return Listing<Switch>{{"NAME", "ROLE", "RACK", "DRIVER", "PROOF", "SINCE", "STATE"},
                           [proofs](const Switch& it) -> Cells {
                             const auto proof = proofs.find(it.spec.driver);
                             const auto faults = faults_of(it.status.conditions);
                             return {name_of(it),
                                     or_dash(it.spec.role),
                                     or_dash(it.spec.rack),
                                     or_dash(it.spec.driver),
                                     proof == proofs.end() ? "-" : proof->second,
                                     faults.empty() ? "-" : render_local(faults[0].since),
                                     state_of(faults)};
                           }};
  });
  add_show<Switch>(noun, context, {"switches", "switch"});
  Command drivers = noun.verb("drivers", "kinds of switch that can be driven");
  drivers.run([&context]() -> Result<int> {
    const ApiClient client = TRY(context.connect());
    const auto items = TRY(client.list(api_path({"switch-drivers"})));
    return show_items<SwitchDriverInfo>(
        context, items,
        {{"DRIVER", "PROOF", "BY", "WHAT"}, [](const SwitchDriverInfo& info) -> Cells {
           return {info.name, info.proof, or_dash(info.proof_by), info.doc};
         }});
  });
}

}  // namespace

void add_physical(Command root, Context& context) {
  add_list_and_show<Rack>(
      root.noun("rack", "racks"), context, {"racks", "rack"},
      {{"NAME", "SITE", "UNITS"}, [](const Rack& rack) -> Cells {
         return {name_of(rack), or_dash(rack.spec.site), std::to_string(rack.spec.u_height)};
       }});
  add_list_and_show<Site>(root.noun("site", "sites"), context, {"sites", "site"},
                          {{"NAME", "SINCE"}, [](const Site& site) -> Cells {
                             return {name_of(site), render_local(site.meta.created_at)};
                           }});
  add_switch(root.noun("switch", "switches, and how far each kind is proved"), context);
  add_list_and_show<Fabric>(
      root.noun("fabric", "fabrics and their managers"), context, {"fabrics", "fabric"},
      {{"NAME", "TECHNOLOGY", "DRIVER", "MANAGER", "SINCE", "STATE"},
       [](const Fabric& fabric) -> Cells {
         const auto faults = faults_of(fabric.conditions);
         const bool is_driven = fabric.spec.technology == FabricTechnology::evpn ||
                                !fabric.spec.management_url.empty();
         return {name_of(fabric),
                 word(fabric.spec.technology),
                 or_dash(fabric.spec.driver),
                 or_dash(fabric.spec.management_url),
                 faults.empty() ? "-" : render_local(faults[0].since),
                 is_driven ? state_of(faults) : "not driven"};
       }});
  add_list_and_show<Sku>(
      root.noun("sku", "kinds of node"), context, {"skus", "SKU"},
      {{"NAME", "GPU", "GPUS", "NICS", "CPUS", "MEMORY"}, [](const Sku& sku) -> Cells {
         return {name_of(sku),
                 or_dash(sku.spec.gpu_model),
                 std::to_string(sku.spec.gpus),
                 std::to_string(sku.spec.nics),
                 std::to_string(sku.spec.cpus),
                 std::to_string(sku.spec.memory_mib) + " MiB"};
       }});
  add_list_and_show<Cable>(root.noun("cable", "cables"), context, {"cables", "cable"},
                           {{"NAME", "SIDE A", "SIDE B"}, [](const Cable& cable) -> Cells {
                              return {name_of(cable),
                                      cable.spec.side_a_device + ":" + cable.spec.side_a_port,
                                      cable.spec.side_b_device + ":" + cable.spec.side_b_port};
                            }});
}

}  // namespace tundish::edge::cli

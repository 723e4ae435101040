// rack, site, switch, sku, cable: list and show.
#include "model/physical.hpp"

#include "edge/cli/nouns.hpp"
#include "edge/cli/simple_kind.hpp"

namespace tundish::edge::cli {

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
  add_list_and_show<Switch>(
      root.noun("switch", "switches"), context, {"switches", "switch"},
      {{"NAME", "ROLE", "SITE", "RACK", "DRIVER"}, [](const Switch& it) -> Cells {
         return {name_of(it), or_dash(it.spec.role), or_dash(it.spec.site), or_dash(it.spec.rack),
                 or_dash(it.spec.driver)};
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

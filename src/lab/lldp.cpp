#include "lab/lldp.hpp"

#include "lab/namespaces.hpp"

namespace tundish::lab {
namespace {

const std::string config_file = "/run/lldp.conf";
/// Default timers would show a cable after 30 s.
/// Source: facts/lab.md section 10; checked 2026-11.
const char* const config =
    "configure lldp tx-interval 1\nconfigure lldp tx-hold 3\n"
    "configure system ip management pattern 10.88.*\n";

}  // namespace

Result<> prepare_lldp() {
  TRY_VOID(make_folder("/run/lldpd"));  // its child is confined to this folder
  return write_text(config_file, config);
}

Service lldp_service(const LldpPlace& place) {
  Service service;
  service.name = place.network.empty() ? "lldpd" : "lldpd." + place.network;
  const std::string socket = "/run/" + service.name + ".socket";
  if (!place.network.empty()) {
    service.argv = {"/usr/bin/nsenter", "--net=/run/netns/" + place.network};
  }
  for (const std::string& word :
       {std::string("/usr/sbin/lldpd"), std::string("-d"), std::string("-O"), config_file,
        std::string("-u"), socket, std::string("-I"), place.ports}) {
    service.argv.push_back(word);
  }
  service.leaves = {socket};
  return service;
}

}  // namespace tundish::lab

#include "runtime/agent/controller_address.hpp"

#include <filesystem>

#include "codec/json.hpp"
#include "model/prefix.hpp"
#include "runtime/agent/cluster_network.hpp"
#include "runtime/agent/stages.hpp"
#include "runtime/agent/validate.hpp"
#include "runtime/process/process.hpp"

namespace tundish::agent {
namespace {
namespace fs = std::filesystem;

std::string file_of(const std::string& state_dir, const std::string& cluster) {
  return state_dir + "/controllers/" + cluster + ".json";
}

}  // namespace

Result<std::optional<ControllerAddress>> load_controller_address(const std::string& state_dir,
                                                                 const std::string& cluster) {
  TRY_VOID(validate_cluster(cluster));
  const auto text = process::read_file(file_of(state_dir, cluster));
  if (!text && text.error().code == Code::not_found) return std::optional<ControllerAddress>();
  if (!text) return text.error();
  ControllerAddress noted;
  TRY_VOID(parse_json(*text, noted, Unknown::keep_out));
  if (!is_interface(noted.interface) || !is_ipv4(noted.address)) {
    return make_error(Code::corrupt, file_of(state_dir, cluster) + " names no address of a port");
  }
  return std::optional(std::move(noted));
}

Result<> check_shared_prefix(const std::string& state_dir, const SetupController& setup) {
  const auto network_of = [](const std::string& address, int length) {
    return parse_interface(address + "/" + std::to_string(length));
  };
  const auto wanted = network_of(setup.address, setup.prefix_length);
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(state_dir + "/controllers", failed)) {
    const std::string cluster = entry.path().stem().string();
    if (cluster == setup.cluster || entry.path().extension() != ".json") continue;
    const auto other = TRY(load_controller_address(state_dir, cluster));
    if (!other || other->own_network) continue;
    const auto theirs = network_of(other->address, other->prefix_length);
    if (!wanted || !theirs || !wanted->overlaps(*theirs)) continue;
    return make_error(Code::conflict, "this node has no network namespaces, and " +
                                          render_prefix(*wanted) + " overlaps that of " + cluster)
        .about("cluster/" + setup.cluster)
        .with_remedy("let the agent make network namespaces, or choose another prefix");
  }
  return {};
}

Result<> record_controller_address(const std::string& state_dir, const SetupController& setup,
                                   PortPlace place) {
  const ControllerAddress wanted{setup.interface, setup.address, setup.prefix_length,
                                 place == PortPlace::own_network};
  const auto known = TRY(load_controller_address(state_dir, setup.cluster));
  if (known && render_json(*known) == render_json(wanted)) return {};
  if (known) TRY_VOID(drop_controller_address(state_dir, setup.cluster));
  std::error_code failed;
  fs::create_directories(state_dir + "/controllers", failed);
  if (failed) return make_error(Code::internal, "cannot make " + state_dir + "/controllers");
  return process::write_file_atomic(file_of(state_dir, setup.cluster), render_json(wanted), 0600);
}

Result<> drop_controller_address(const std::string& state_dir, const std::string& cluster) {
  const auto noted = TRY(load_controller_address(state_dir, cluster));
  if (!noted) return {};
  if (noted->own_network) {
    TRY_VOID(release_port(cluster, seconds(10)));
  } else {
    TRY_VOID(remove_address({noted->interface, noted->address, noted->prefix_length, Others::keep},
                            seconds(10)));
  }
  std::error_code failed;
  fs::remove(file_of(state_dir, cluster), failed);
  if (failed) return make_error(Code::unavailable, "cannot remove " + file_of(state_dir, cluster));
  return {};
}

}  // namespace tundish::agent

#include "runtime/agent/controller_address.hpp"

#include <filesystem>

#include "codec/json.hpp"
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

Result<> record_controller_address(const std::string& state_dir, const SetupController& setup) {
  const ControllerAddress wanted{setup.interface, setup.address, setup.prefix_length};
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
  TRY_VOID(remove_address({noted->interface, noted->address, noted->prefix_length, Others::keep},
                          seconds(10)));
  std::error_code failed;
  fs::remove(file_of(state_dir, cluster), failed);
  if (failed) return make_error(Code::unavailable, "cannot remove " + file_of(state_dir, cluster));
  return {};
}

}  // namespace tundish::agent

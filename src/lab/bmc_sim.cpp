#include "lab/bmc_sim.hpp"

#include "base/text.hpp"
#include "codec/json.hpp"
#include "lab/redfish_text.hpp"
#include "runtime/process/process.hpp"

namespace tundish::lab {
namespace {

const std::string reset_path = "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset";

std::string render_base64(std::string_view bytes) {
  static constexpr char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned word = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const unsigned byte = i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U;
      word = word << 8 | byte;
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += i + k > bytes.size() ? '=' : digits[word >> (18 - 6 * k) & 63U];
    }
  }
  return out;
}

}  // namespace

BmcSimulator::BmcSimulator(net::Loop& loop, const LabSpec& spec, NodePower& power)
    : loop_(loop), password_file_(paths_of(spec).bmc_password()), power_(power) {}

Result<> BmcSimulator::listen() {
  net::ListenOptions options;
  options.url = "http://0.0.0.0:8000";
  server_ = TRY(net::HttpServer::listen(
      loop_, options, [this](const net::ServerRequest& request, const net::Reply& reply) {
        answer(request, reply);
      }));
  return {};
}

void BmcSimulator::set_mode(const std::string& node, BmcMode mode, Duration delay) {
  behaviour_[node] = {mode, delay};
}

bool BmcSimulator::allowed(const net::ServerRequest& request) const {
  const auto password = process::read_file(password_file_);
  if (!password) return false;
  const auto header = request.headers.find("authorization");
  const std::string expected = "Basic " + render_base64("admin:" + std::string(trim(*password)));
  return header != request.headers.end() && header->second == expected;
}

void BmcSimulator::answer(const net::ServerRequest& request, const net::Reply& reply) {
  NodeState* node = power_.find_by_bmc(request.local_address);
  if (node == nullptr) {
    return reply.send(404, render_redfish_error("ResourceMissingAtURI", "No BMC at this address"));
  }
  const bool root = request.path == "/redfish/v1" || request.path == "/redfish/v1/";
  if (!root && !allowed(request)) {  // the root is public, DSP0266 "Authentication"
    HttpResponse response;
    response.status = 401;
    response.headers = {{"content-type", "application/json"},
                        {"www-authenticate", "Basic realm=\"bmc\""}};
    response.body = render_redfish_error("NoValidSession", "Authentication is required");
    return reply.send(response);
  }
  if (request.path == reset_path) {
    if (request.method == "POST") return reset(*node, request.body, reply);
    return reply.send(405, render_redfish_error("OperationNotAllowed", "Use POST"));
  }
  const auto document = render_redfish(request.path, *node);
  if (!document) {
    return reply.send(404, render_redfish_error("ResourceMissingAtURI",
                                                "No resource at " + request.path));
  }
  if (request.method != "GET") {
    return reply.send(405, render_redfish_error("OperationNotAllowed", "Read only"));
  }
  reply.send(200, *document);
}

void BmcSimulator::reset(NodeState& node, const std::string& body, const net::Reply& reply) {
  const auto document = JsonValue::parse(body);
  const auto type = document ? document->at("ResetType").as_text() : std::nullopt;
  if (!type) {
    return reply.send(400, render_redfish_error("ActionParameterMissing", "ResetType is missing"));
  }
  const auto action = parse_reset_type(*type);
  if (!action) {
    return reply.send(400, render_redfish_error("ActionParameterNotSupported",
                                                "ResetType " + *type + " is not supported"));
  }
  const Behaviour behaviour = behaviour_[node.hardware.name];
  if (behaviour.mode != BmcMode::ignore) {
    const auto done = power_.apply(node.hardware.name, *action);
    if (!done) {
      return reply.send(500, render_redfish_error("InternalError", done.error().message()));
    }
  }
  if (behaviour.mode != BmcMode::late) return reply.send(204, "");
  loop_.at(loop_.now() + behaviour.delay, [reply] { reply.send(204, ""); });
}

}  // namespace tundish::lab

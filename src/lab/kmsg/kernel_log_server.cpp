#include "lab/kmsg/kernel_log_server.hpp"

#include "lab/kmsg/fuse_loop.hpp"

namespace tundish::lab {
namespace {

Error unknown_node(const std::string& node) {
  return make_error(Code::not_found, "no kernel log for node " + node)
      .with_remedy("add_node first");
}

}  // namespace

KernelLogServer::KernelLogServer() : files_(std::make_unique<KernelLogFiles>()) {}
KernelLogServer::~KernelLogServer() = default;

Result<std::unique_ptr<KernelLogServer>> KernelLogServer::mount(const std::string& directory) {
  std::unique_ptr<KernelLogServer> server(new KernelLogServer());
  server->loop_ = TRY(FuseLoop::start(*server->files_, directory));
  return server;
}

Result<> KernelLogServer::add_node(const std::string& node) {
  if (node.empty() || node.find('/') != std::string::npos) {
    return make_error(Code::invalid, "node name '" + node + "' cannot be a file name");
  }
  if (!files_->add(node)) {
    return make_error(Code::conflict, "kernel log for node " + node + " already exists");
  }
  return {};
}

Result<> KernelLogServer::append(const std::string& node, unsigned level, std::string_view text) {
  if (level > 7) return make_error(Code::invalid, "kernel log level above 7");
  if (!files_->append(node, {.facility = 0, .level = level}, text)) return unknown_node(node);
  return {};
}

Result<> KernelLogServer::boot(const std::string& node) {
  if (!files_->boot(node)) return unknown_node(node);
  return {};
}

}  // namespace tundish::lab

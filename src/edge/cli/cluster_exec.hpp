#pragma once
#include <string>
#include <vector>

#include "edge/cli/context.hpp"

namespace tundish::edge::cli {

struct LoginCall {
  std::string user, address, identity_file;
  std::string proxy;  ///< ssh ProxyCommand; empty: the address is reachable
  std::vector<std::string> words;
};

/// One word goes to the remote shell as it is, as with ssh; of several each arrives as given.
std::vector<std::string> ssh_argv(const LoginCall& call);

void add_cluster_exec(Command noun, Context& context);

/// Replaces this process; returns only when that failed.
Error replace_process(std::vector<std::string> argv);

}  // namespace tundish::edge::cli

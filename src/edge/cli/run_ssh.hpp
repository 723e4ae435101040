#pragma once
// ssh as a child, so that what it could not do is told in our words and with our exit code.
#include <string>
#include <vector>

#include "base/result.hpp"

namespace tundish::edge::cli {

struct LoginCall {
  std::string user, address, identity_file;
  std::string proxy;  ///< ssh ProxyCommand; empty: the address is reachable
  std::vector<std::string> words;
  std::string target = {};  ///< for messages: "cluster train"
};

/// One word goes to the remote shell as it is, as with ssh; of several each arrives as given.
std::vector<std::string> ssh_argv(const LoginCall& call);

/// The exit code of what ran there. An Error when it did not run, or was cut off: `unavailable`
/// without a connection, `denied` when the login was refused.
Result<int> run_ssh(const LoginCall& call);

}  // namespace tundish::edge::cli

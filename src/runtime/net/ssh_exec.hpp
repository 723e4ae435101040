#pragma once
// Exec over the ssh program: one connection per target is kept open and shared, so that a command
// costs milliseconds. The far key is remembered at first sight and a changed one is refused.
#include <map>
#include <string>
#include <vector>

#include "ports/exec.hpp"
#include "runtime/net/loop.hpp"

namespace tundish::net {

struct SshOptions {
  std::string key_file;     ///< private key; empty: ssh's own choice
  std::string known_hosts;  ///< file of ours
  std::string socket_dir;   ///< for shared connections; must be short (104 bytes with the name)
};

struct SshTarget {
  std::string user;
  std::string address;
  int port = 22;
};
/// ssh://user@address[:port], nothing else: no option may be smuggled in.
Result<SshTarget> parse_ssh_target(const std::string& url);
/// For the far shell: 'it'\''s'.
std::string quote_for_shell(const std::string& word);

class SshExec final : public Exec {
 public:
  SshExec(Loop& loop, SshOptions options) : loop_(loop), options_(std::move(options)) {}
  void start(ExecRequest request, Duration limit, Done done) override;

 private:
  std::vector<std::string> command_line(const SshTarget& target,
                                        const std::vector<std::string>& argv) const;
  Loop& loop_;
  SshOptions options_;
};

}  // namespace tundish::net

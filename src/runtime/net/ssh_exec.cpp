#include "runtime/net/ssh_exec.hpp"

#include "base/log.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"
#include "runtime/process/process.hpp"

namespace tundish::net {
namespace {

/// ssh says 255 for every failure of its own. Source: ssh(1), EXIT STATUS; checked 2026-11.
constexpr int ssh_failed = 255;

bool is_plain(const std::string& text) {
  if (text.empty() || text.front() == '-') return false;
  return text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
             "._-:") == std::string::npos;
}

/// What ssh's own complaint comes to; its text goes to the log.
std::string short_reason(const std::string& complaint) {
  struct Known {
    std::string_view says, means;
  };
  // Source: OpenSSH 9.2 ssh.c, sshconnect.c, sshconnect2.c and misc.c; checked 2026-11.
  constexpr Known known[] = {
      {"Connection refused", "it refuses the connection"},
      {"timed out", "it cannot be reached: no answer"},
      {"No route to host", "it cannot be reached: no route"},
      {"Network is unreachable", "it cannot be reached: no route"},
      {"HOST IDENTIFICATION HAS CHANGED", "it shows another host key than the one on record"},
      {"Host key verification failed", "its host key is not the one on record"},
      {"Permission denied", "it does not take our key"},
      {"Could not resolve hostname", "its name is not known"},
      {"Connection reset", "it broke the connection"},
      {"Connection closed", "it broke the connection"},
      {"Broken pipe", "it broke the connection"}};
  for (const auto& one : known) {
    if (complaint.find(one.says) != std::string::npos) return std::string(one.means);
  }
  const auto lines = split(trim(complaint), '\n');
  return lines.back().empty() ? "ssh failed without a word" : shorten(trim(lines.back()));
}

Result<ExecOutput> outcome(const std::string& url, const Result<process::Output>& ended) {
  if (!ended) return Error(ended.error());
  if (ended->timed_out) {
    return make_error(Code::timeout,
                      url + " gave no answer in " + std::to_string(ended->duration.ms()) + " ms");
  }
  if (ended->exit_code == ssh_failed || ended->exit_code < 0) {
    log(LogLevel::debug, "ssh_failed", {{"target", url}, {"said", trim(ended->err)}});
    return make_error(Code::unavailable, url + ": " + short_reason(ended->err));
  }
  return ExecOutput{ended->exit_code, ended->out, ended->err};
}

}  // namespace

Result<SshTarget> parse_ssh_target(const std::string& url) {
  const auto wrong = [&] {
    return make_error(Code::invalid, "\"" + url + "\" is no ssh target")
        .with_remedy("write ssh://user@address or ssh://user@address:port");
  };
  const std::string scheme = "ssh://";
  if (url.rfind(scheme, 0) != 0) return wrong();
  const auto at = url.find('@');
  if (at == std::string::npos) return wrong();
  SshTarget target;
  target.user = url.substr(scheme.size(), at - scheme.size());
  target.address = url.substr(at + 1);
  const auto colon = target.address.find(':');
  if (colon != std::string::npos) {
    const auto port = parse_integer(target.address.substr(colon + 1));
    if (!port || *port < 1 || *port > 65535) return wrong();
    target.port = static_cast<int>(*port);
    target.address.resize(colon);
  }
  if (!is_plain(target.user) || !is_plain(target.address)) return wrong();
  return target;
}

std::string quote_for_shell(const std::string& word) {
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::vector<std::string> SshExec::command_line(const SshTarget& target,
                                               const std::vector<std::string>& argv) const {
  std::vector<std::string> out = {"ssh",
                                  "-F",
                                  "none",
                                  "-o",
                                  "BatchMode=yes",
                                  "-o",
                                  "StrictHostKeyChecking=accept-new",
                                  "-o",
                                  "ConnectTimeout=5",
                                  "-o",
                                  "ServerAliveInterval=5",
                                  "-o",
                                  "ServerAliveCountMax=2",
                                  "-o",
                                  "ControlMaster=auto",
                                  "-o",
                                  "ControlPersist=60",
                                  "-o",
                                  "ControlPath=" + options_.socket_dir + "/%C",
                                  "-o",
                                  "UserKnownHostsFile=" + options_.known_hosts,
                                  "-p",
                                  std::to_string(target.port)};
  if (!options_.key_file.empty()) {
    out.insert(out.end(), {"-o", "IdentitiesOnly=yes", "-i", options_.key_file});
  }
  out.insert(out.end(), {target.user + "@" + target.address, "--"});
  for (const auto& word : argv) out.push_back(quote_for_shell(word));
  return out;
}

void SshExec::start(ExecRequest request, Duration limit, Done done) {
  const auto target = parse_ssh_target(request.target);
  if (!target) {
    loop_.post([done = std::move(done), error = target.error()] { done(error); });
    return;
  }
  process::Command command;
  command.argv = command_line(*target, request.argv);
  command.input = std::move(request.input);
  command.limit = limit;
  const auto result = std::make_shared<Result<ExecOutput>>(make_error(Code::internal, "not run"));
  loop_.offload([command = std::move(command), url = request.target,
                 result] { *result = outcome(url, process::run(command)); },
                [done = std::move(done), result] { done(std::move(*result)); });
}

}  // namespace tundish::net

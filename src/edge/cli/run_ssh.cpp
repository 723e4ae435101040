#include "edge/cli/run_ssh.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/text.hpp"

namespace tundish::edge::cli {
namespace {

namespace fs = std::filesystem;

constexpr int ssh_failed = 255;  // Source: ssh(1), EXIT STATUS; checked 2026-11
constexpr int not_started = 127;

std::string quote(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// ssh writes its own words to `log`, and leaves `inside` once the login succeeded: its exit code
/// alone does not tell its failure from a command that ends with 255.
class Traces {
 public:
  Traces() {
    std::string name = (fs::temp_directory_path() / "tundish-ssh-XXXXXX").string();
    if (mkdtemp(name.data())) folder_ = name;
  }
  ~Traces() {
    std::error_code ignored;
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
  }
  Traces(const Traces&) = delete;
  Traces& operator=(const Traces&) = delete;

  bool is_usable() const { return !folder_.empty(); }
  std::vector<std::string> flags() const {
    return {"-E", folder_ + "/log",
            "-o", "PermitLocalCommand=yes",
            "-o", "LocalCommand=touch " + quote(folder_ + "/inside")};
  }
  bool was_inside() const { return fs::exists(folder_ + "/inside"); }
  std::string log() const {
    std::ifstream file(folder_ + "/log");
    std::string out;
    for (std::string line; std::getline(file, line);) {
      const std::string text(trim(line));
      if (!text.empty()) out += (out.empty() ? "" : "; ") + text;
    }
    return out;
  }

 private:
  std::string folder_;
};

/// Ctrl-C belongs to what runs there: ssh hears it too, and we wait for how it ends.
class DeafToKeys {
 public:
  DeafToKeys() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGINT, &ignore, &interrupt_);
    sigaction(SIGQUIT, &ignore, &quit_);
  }
  ~DeafToKeys() { restore(); }
  DeafToKeys(const DeafToKeys&) = delete;
  DeafToKeys& operator=(const DeafToKeys&) = delete;
  void restore() const {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGQUIT, &quit_, nullptr);
  }

 private:
  struct sigaction interrupt_ {
  }, quit_{};
};

/// The wait status of the program; it shares our terminal, and ends with us.
Result<int> run_child(std::vector<std::string> argv) {
  std::vector<char*> words;
  for (auto& one : argv) words.push_back(one.data());
  words.push_back(nullptr);
  const DeafToKeys deaf;
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    deaf.restore();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == parent) execvp(words.front(), words.data());
    _exit(not_started);
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (child < 0) {
    return make_error(Code::internal, std::string("cannot fork: ") + std::strerror(errno));
  }
  return status;
}

/// Looked up before: a shell on the other side may end with 127 as well.
bool is_installed(const std::string& program) {
  const char* const path = getenv("PATH");
  for (const auto& folder : split(path ? path : "/usr/bin:/bin", ':')) {
    if (!folder.empty() && access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

Result<> check_call(const LoginCall& call) {
  if (!is_installed("ssh")) {
    return make_error(Code::unsupported, "ssh is not installed here")
        .with_remedy("install an OpenSSH client, for example: apt-get install openssh-client");
  }
  if (!call.identity_file.empty() && access(call.identity_file.c_str(), R_OK) != 0) {
    return make_error(Code::invalid,
                      "cannot read the key " + call.identity_file + ": " + std::strerror(errno))
        .with_remedy("--identity names the file of the private key");
  }
  return {};
}

Error explain_failure(const LoginCall& call, const std::string& log) {
  const std::string what = "no login to " + (call.target.empty() ? call.address : call.target) +
                           " as " + call.user + ": " +
                           (log.empty() ? std::string("ssh gave no reason") : log);
  const auto says = [&log](const char* text) { return log.find(text) != std::string::npos; };
  if (says("Permission denied") || says("Too many authentication failures")) {
    return make_error(Code::denied, what)
        .with_remedy("is " + call.user +
                     " a user of the tenant, and --identity the private half of a key that "
                     "`tundish user show " +
                     call.user + "` lists?");
  }
  return make_error(Code::unavailable, what)
      .with_remedy("is its node up? see `tundish cluster list` and `tundish doctor`" +
                   std::string(call.proxy.empty()
                                   ? "; is " + call.address + " reachable from this machine?"
                                   : "; is the lab of `tundish context show` the right one?"));
}

}  // namespace

std::vector<std::string> ssh_argv(const LoginCall& call) {
  // Nodes are re-imaged and addresses reused: a remembered host key would only cry wolf.
  std::vector<std::string> argv = {"ssh",
                                   "-o",
                                   "StrictHostKeyChecking=no",
                                   "-o",
                                   "UserKnownHostsFile=/dev/null",
                                   "-o",
                                   "LogLevel=ERROR",
                                   "-o",
                                   "ConnectTimeout=20"};
  if (!call.proxy.empty()) argv.insert(argv.end(), {"-o", "ProxyCommand=" + call.proxy});
  if (!call.identity_file.empty()) {
    argv.insert(argv.end(), {"-o", "IdentitiesOnly=yes", "-i", call.identity_file});
  }
  // With a command nobody is there to type a password.
  if (!call.words.empty()) argv.insert(argv.end(), {"-o", "BatchMode=yes"});
  argv.push_back("-l");
  argv.push_back(call.user);
  argv.push_back(call.address);
  if (call.words.empty()) return argv;
  argv.push_back("--");
  std::string line;
  for (const auto& one : call.words) line += (line.empty() ? "" : " ") + quote(one);
  argv.push_back(call.words.size() == 1 ? call.words.front() : line);
  return argv;
}

Result<int> run_ssh(const LoginCall& call) {
  TRY_VOID(check_call(call));
  const Traces traces;
  if (!traces.is_usable()) {
    return make_error(Code::internal, "cannot make a folder for temporary files")
        .with_remedy("set TMPDIR to a folder that you may write");
  }
  auto argv = ssh_argv(call);
  const auto flags = traces.flags();
  argv.insert(argv.begin() + 1, flags.begin(), flags.end());
  const int status = TRY(run_child(std::move(argv)));
  if (WIFSIGNALED(status)) return 128 + WTERMSIG(status);
  const int code = WEXITSTATUS(status);
  if (code != ssh_failed) return code;
  const std::string log = traces.log();
  if (!traces.was_inside()) return explain_failure(call, log);
  if (log.empty()) return code;  // the command's own
  return make_error(Code::unavailable, "the connection to " + call.address + " broke: " + log)
      .with_remedy("whether the command went on is not known; look there");
}

}  // namespace tundish::edge::cli

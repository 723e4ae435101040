#pragma once
// An MPI process as far as its process manager sees it: what MPICH says before and after a job, for
// stand-ins of programs that are built with MPI. Without a manager it is alone, as MPICH's are.
// Source: MPICH src/pmi/src/pmi_v1.c and pmi_common.c, 4.0; checked 2026-11
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace tundish::lab {

class PmiJob {
 public:
  /// Ends the process where MPI_Init would.
  static PmiJob init() {
    PmiJob out;
    const char* const manager = std::getenv("PMI_PORT");
    const char* const id = std::getenv("PMI_ID");
    if (manager == nullptr || id == nullptr) return out;
    const std::string at = manager;
    const std::size_t colon = at.rfind(':');
    const std::string name = at.substr(0, colon);
    const int port = colon == std::string::npos ? 0 : std::atoi(at.c_str() + colon + 1);
    out.fd_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    const bool known = inet_pton(AF_INET, name.c_str(), &address.sin_addr) == 1;
    if (!known || connect(out.fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      std::fprintf(stderr, "[unset]: Unable to connect to %s on %d\n", name.c_str(), port);
      give_up();
    }
    out.say("cmd=initack pmiid=" + std::string(id));
    out.expect("cmd=initack");
    out.size_ = std::atoi(out.word(out.hear(), "size").c_str());
    out.rank_ = std::atoi(out.word(out.hear(), "rank").c_str());
    (void)out.hear();
    out.say("cmd=init pmi_version=1 pmi_subversion=1");
    out.expect("cmd=response_to_init");
    out.say("cmd=get_my_kvsname");
    out.store_ = out.word(out.hear(), "kvsname");
    out.barrier();
    return out;
  }

  int rank() const { return rank_; }
  int size() const { return size_; }

  void barrier() {
    if (size_ < 2) return;
    say("cmd=barrier_in");
    expect("cmd=barrier_out");
  }
  void put(const std::string& key, const std::string& value) {
    if (size_ < 2) return;
    say("cmd=put kvsname=" + store_ + " key=" + key + " value=" + value);
    expect("cmd=put_result rc=0");
  }
  std::string get(const std::string& key) {
    say("cmd=get kvsname=" + store_ + " key=" + key);
    return word(hear(), "value");
  }
  void finalize() {
    if (size_ < 2) return;
    barrier();
    say("cmd=finalize");
    expect("cmd=finalize_ack");
    close(fd_);
  }

 private:
  [[noreturn]] static void give_up() {
    std::fprintf(stderr, "Abort(672779791): Fatal error in internal_Init: Other MPI error\n");
    std::exit(15);
  }
  void say(const std::string& line) {
    const std::string text = line + "\n";
    if (send(fd_, text.data(), text.size(), MSG_NOSIGNAL) < 0) give_up();
  }
  std::string hear() {
    std::string line;
    for (char c = 0; read(fd_, &c, 1) == 1;) {
      if (c == '\n') return line;
      line += c;
    }
    give_up();
  }
  void expect(const std::string& start) {
    if (!hear().starts_with(start)) give_up();
  }
  static std::string word(const std::string& line, const std::string& key) {
    const std::size_t at = line.find(key + "=");
    if (at == std::string::npos) give_up();
    const std::size_t begin = at + key.size() + 1;
    return line.substr(begin, line.find(' ', begin) - begin);
  }

  int fd_ = -1;
  int rank_ = 0;
  int size_ = 1;
  std::string store_;
};

}  // namespace tundish::lab

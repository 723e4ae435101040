#include "runtime/agent/pair_manager.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/text.hpp"
#include "runtime/agent/deadline.hpp"
#include "runtime/process/fd.hpp"

namespace tundish::agent {
namespace {

using process::Fd;

/// What MPICH is told that it may send, as by Hydra. Source: MPICH pm/hydra, hydra.h;
/// checked 2026-11
constexpr const char* maxes = "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024";
constexpr std::size_t longest_line = 8 << 10;
constexpr std::size_t most_values = 4096;
constexpr const char* store = "kvs_0";

/// The word behind ` KEY=`; a value is the last one of its line.
std::string word_of(std::string_view line, std::string_view key) {
  const std::string start = std::string(key) + "=";
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    if (line.substr(at, end - at).starts_with(start)) {
      return std::string(line.substr(at + start.size(), end - at - start.size()));
    }
    at = end + 1;
  }
  return "";
}

struct Rank {
  Fd socket;
  std::string received;
  bool joined = false;
  bool finalized = false;
};

class PairServer {
 public:
  explicit PairServer(const PairOrder& order) : order_(order), join_(order.join_limit) {}

  Result<> run() {
    listener_ = TRY(listen());
    while (!(ranks_[0].finalized && ranks_[1].finalized)) {
      const bool joined = ranks_[0].joined && ranks_[1].joined;
      if (!joined && join_.left() <= milliseconds(10)) {  // which it never goes below
        return make_error(Code::timeout, std::string("rank ") + (ranks_[0].joined ? "1" : "0") +
                                             " did not come: both nodes must reach this "
                                             "one's port over the out-of-band network");
      }
      std::array<pollfd, 3> polled{{{listener_.get(), POLLIN, 0},
                                    {ranks_[0].socket.get(), POLLIN, 0},
                                    {ranks_[1].socket.get(), POLLIN, 0}}};
      const auto wait = joined ? std::int64_t{-1} : join_.left().ms();
      (void)::poll(polled.data(), polled.size(), static_cast<int>(wait));
      for (int rank = 0; rank < PairBoard::ranks; ++rank) {
        if (polled[static_cast<std::size_t>(rank) + 1].revents != 0) TRY_VOID(read_from(rank));
      }
      if (polled[0].revents != 0) accept_one();  // last: what was polled is of the earlier sockets
    }
    return {};
  }

 private:
  Result<Fd> listen() const {
    Fd out(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int on = 1;
    ::setsockopt(out.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(order_.port));
    const bool bound =
        out && ::bind(out.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    if (bound && ::listen(out.get(), PairBoard::ranks) == 0) return out;
    return make_error(Code::unavailable, "cannot listen on port " + std::to_string(order_.port) +
                                             ": " + std::strerror(errno));
  }

  /// Nobody else is let in: whoever is neither here nor the peer.
  void accept_one() {
    sockaddr_in from{};
    socklen_t size = sizeof from;
    Fd socket(::accept4(listener_.get(), reinterpret_cast<sockaddr*>(&from), &size, SOCK_CLOEXEC));
    char text[INET_ADDRSTRLEN] = "";
    ::inet_ntop(AF_INET, &from.sin_addr, text, sizeof text);
    const bool is_here = (ntohl(from.sin_addr.s_addr) >> 24) == 127;
    const bool is_peer = order_.peer == text;
    if (!socket || (!is_peer && !is_here)) return;
    Rank& rank = ranks_[is_peer ? 1 : 0];
    if (rank.joined) return;
    // The end of an earlier try may not have been read yet.
    rank.socket = std::move(socket);
    rank.received.clear();
  }

  Result<> read_from(int number) {
    Rank& rank = ranks_[static_cast<std::size_t>(number)];
    std::array<char, 4096> buffer;
    const auto got = ::recv(rank.socket.get(), buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) return {};
    if (got <= 0) return lose(number);
    rank.received.append(buffer.data(), static_cast<std::size_t>(got));
    for (auto end = rank.received.find('\n'); end != std::string::npos;
         end = rank.received.find('\n')) {
      const std::string line = rank.received.substr(0, end);
      rank.received.erase(0, end + 1);
      TRY_VOID(answer(number, line));
    }
    if (rank.received.size() > longest_line) return make_error(Code::corrupt, "a line is too long");
    return {};
  }

  Result<> answer(int number, const std::string& line) {
    ranks_[static_cast<std::size_t>(number)].joined = true;
    const auto answers = TRY(board_.take(number, line));
    for (std::size_t to = 0; to < answers.to.size(); ++to) {
      const std::string& text = answers.to[to];
      if (text.empty()) continue;
      const auto sent = ::send(ranks_[to].socket.get(), text.data(), text.size(), MSG_NOSIGNAL);
      if (sent != static_cast<ssize_t>(text.size())) return lose(static_cast<int>(to));
    }
    if (answers.finalized) ranks_[static_cast<std::size_t>(number)].finalized = true;
    return {};
  }

  /// One that had not begun may come again; one that had takes the other with it.
  Result<> lose(int number) {
    Rank& rank = ranks_[static_cast<std::size_t>(number)];
    rank.socket.reset();
    if (!rank.joined || rank.finalized) return {};
    return make_error(Code::unavailable, "rank " + std::to_string(number) + " is gone");
  }

  PairOrder order_;
  Deadline join_;
  Fd listener_;
  std::array<Rank, PairBoard::ranks> ranks_;
  PairBoard board_;
};

}  // namespace

Result<PairBoard::Answers> PairBoard::take(int rank, std::string_view line) {
  Answers out;
  std::string& mine = out.to[static_cast<std::size_t>(rank)];
  const std::string command = word_of(line, "cmd");
  if (command == "initack") {
    mine = "cmd=initack\ncmd=set size=2\ncmd=set rank=" + std::to_string(rank) +
           "\ncmd=set debug=0\n";
  } else if (command == "init") {
    mine = "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n";
  } else if (command == "get_maxes") {
    mine = std::string(maxes) + "\n";
  } else if (command == "get_appnum") {
    mine = "cmd=appnum appnum=0\n";
  } else if (command == "get_universe_size") {
    mine = "cmd=universe_size size=2\n";
  } else if (command == "get_my_kvsname") {
    mine = "cmd=my_kvsname kvsname=" + std::string(store) + "\n";
  } else if (command == "put") {
    if (values_.size() >= most_values) return make_error(Code::exhausted, "too many values");
    values_[word_of(line, "key")] = word_of(line, "value");
    mine = "cmd=put_result rc=0 msg=success\n";
  } else if (command == "get") {
    const auto found = values_.find(word_of(line, "key"));
    mine = found == values_.end()
               ? "cmd=get_result rc=-1 msg=key_not_found value=unknown\n"
               : "cmd=get_result rc=0 msg=success value=" + found->second + "\n";
  } else if (command == "barrier_in") {
    at_barrier_[static_cast<std::size_t>(rank)] = true;
    if (at_barrier_[0] && at_barrier_[1]) {
      out.to[0] = out.to[1] = "cmd=barrier_out\n";
      at_barrier_ = {};
    }
  } else if (command == "finalize") {
    mine = "cmd=finalize_ack\n";
    out.finalized = true;
  } else if (command == "abort") {
    return make_error(Code::unavailable, "rank " + std::to_string(rank) + " gave up, exit " +
                                             word_of(line, "exitcode"));
  } else {
    return make_error(Code::unsupported, "a process manager of pairs knows no '" + command + "'");
  }
  return out;
}

Result<PairOrder> parse_pair_order(std::string_view target) {
  const std::size_t comma = target.find(',');
  const auto port = parse_integer(target.substr(0, comma));
  in_addr address{};
  PairOrder out;
  if (comma != std::string_view::npos) out.peer = std::string(target.substr(comma + 1));
  const bool known = ::inet_pton(AF_INET, out.peer.c_str(), &address) == 1;
  if (!port || *port < 1 || *port > 65535 || !known) {
    return make_error(Code::invalid, "a pair is PORT,IPV4");
  }
  out.port = static_cast<int>(*port);
  return out;
}

Result<> serve_pair(const PairOrder& order) { return PairServer(order).run(); }

}  // namespace tundish::agent

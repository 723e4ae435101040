// Stands in for ib_write_bw of perftest on a simulated node: server and client meet over TCP as
// theirs do, and the rate is that of the slower port. Source: linux-rdma/perftest src/write_bw.c
// and perftest_parameters.h, release 24.07; checked 2026-11
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>

#include "lab/tools/parts.hpp"

namespace {

struct Request {
  std::string device = "mlx5_0";
  std::string port = "1";
  int tcp_port = 18515;
  int seconds = 5;
  bool gbits = false;
  std::string far;  ///< empty: this is the server
};

Request parse(int argc, char** argv) {
  Request out;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::string next = i + 1 < argc ? argv[i + 1] : "";
    if (word == "-d") out.device = next;
    if (word == "-i") out.port = next;
    if (word == "-p") out.tcp_port = std::atoi(next.c_str());
    if (word == "-D") out.seconds = std::max(std::atoi(next.c_str()), 1);
    out.gbits = out.gbits || word == "--report_gbits";
    const bool has_value = word == "-d" || word == "-i" || word == "-p" || word == "-D";
    if (has_value) ++i;
    if (!word.starts_with("-")) out.far = word;
  }
  return out;
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// Gb/s of the port as sysfs tells it; 0: no such port, or it is not active.
double rate_of(const Request& request) {
  const std::string folder =
      "/sys/class/infiniband/" + request.device + "/ports/" + request.port + "/";
  if (first_line(folder + "state").find("ACTIVE") == std::string::npos) return 0;
  return std::atof(first_line(folder + "rate").c_str()) *
         tundish::lab::rail_share(request.device);
}

int listen_on(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return -1;
  listen(fd, 1);
  return accept(fd, nullptr, nullptr);
}

int connect_to(const std::string& far, int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (inet_pton(AF_INET, far.c_str(), &address.sin_addr) != 1) return -1;
  return connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 ? fd : -1;
}

/// Each tells the other its rate; 0: the other is gone.
double exchange(int fd, double mine) {
  double theirs = 0;
  if (write(fd, &mine, sizeof mine) != sizeof mine) return 0;
  return read(fd, &theirs, sizeof theirs) == sizeof theirs ? theirs : 0;
}

void print_result(const Request& request, double rate) {
  const char* const line =
      "---------------------------------------------------------------------------------------\n";
  std::printf("%s                    RDMA_Write BW Test\n Dual-port       : OFF\t\tDevice         "
              ": %s\n Number of qps   : 1\t\tTransport type : IB\n", line, request.device.c_str());
  std::printf(" Connection type : RC\t\tUsing SRQ      : OFF\n TX depth        : 128\n"
              " CQ Moderation   : 1\n Mtu             : 4096[B]\n Link type       : IB\n%s", line);
  const double average = rate * 0.982 / (request.gbits ? 1.0 : 0.008);
  std::printf(request.gbits
                  ? " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   "
                    "MsgRate[Mpps]\n"
                  : " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   "
                    "MsgRate[Mpps]\n");
  std::printf(" 65536      %-10d       0.00               %-7.2f            %-7.6f\n%s",
              static_cast<int>(rate * 1900 * request.seconds), average, rate / 524.0, line);
}

}  // namespace

int main(int argc, char** argv) {
  const Request request = parse(argc, argv);
  const double mine = rate_of(request);
  if (mine <= 0) {
    std::fprintf(stderr, " Unable to find the Infiniband/RoCE device\n");
    return 1;
  }
  if (request.far.empty()) {
    std::printf("\n************************************\n* Waiting for client to connect... *\n"
                "************************************\n");
    std::fflush(stdout);
  }
  const int fd = request.far.empty() ? listen_on(request.tcp_port)
                                     : connect_to(request.far, request.tcp_port);
  if (fd < 0) {
    std::fprintf(stderr, " Couldn't connect to %s:%d\n Unable to open file descriptor for socket "
                 "connection\n", request.far.c_str(), request.tcp_port);
    return 1;
  }
  const double theirs = exchange(fd, mine);
  if (theirs <= 0) {
    std::fprintf(stderr, " Unable to exchange data with the other side\n");
    return 1;
  }
  tundish::lab::work_for(request.seconds);
  print_result(request, std::min(mine, theirs));
  return 0;
}

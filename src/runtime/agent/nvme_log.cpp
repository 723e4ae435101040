#include "runtime/agent/nvme_log.hpp"

#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tundish::agent {
namespace {

constexpr std::size_t page_size = 512;
constexpr std::uint8_t get_log_page = 0x02;
constexpr std::uint32_t health_page = 0x02;

std::int64_t byte_at(std::string_view page, std::size_t at) {
  return static_cast<unsigned char>(page[at]);
}

}  // namespace

// Source: NVM Express base specification 1.4, figure 194; checked 2026-11
Result<> parse_nvme_health(std::string_view page, NvmeReading& out) {
  if (page.size() < page_size) return make_error(Code::corrupt, "the health log is cut");
  out.critical_warning = byte_at(page, 0);
  out.spare_percent = byte_at(page, 3);
  out.spare_threshold_percent = byte_at(page, 4);
  out.used_percent = byte_at(page, 5);
  std::int64_t errors = 0;
  for (std::size_t i = 0; i < 7; ++i) errors |= byte_at(page, 160 + i) << (8 * i);
  out.media_errors = errors;
  return {};
}

Result<std::string> read_nvme_health(const std::string& device) {
  const int fd = ::open(device.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return make_error(Code::unavailable, "cannot open " + device + ": " + std::strerror(errno));
  }
  std::string page(page_size, '\0');
  nvme_admin_cmd command{};
  command.opcode = get_log_page;
  command.nsid = 0xffffffff;
  command.addr = reinterpret_cast<std::uintptr_t>(page.data());
  command.data_len = page_size;
  command.cdw10 = health_page | ((page_size / 4 - 1) << 16);
  const int status = ::ioctl(fd, NVME_IOCTL_ADMIN_CMD, &command);
  const int number = errno;
  ::close(fd);
  if (status == 0) return page;
  const std::string why = status < 0 ? std::strerror(number) : "status " + std::to_string(status);
  return make_error(Code::unavailable, device + ": " + why);
}

}  // namespace tundish::agent

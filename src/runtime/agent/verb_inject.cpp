#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "runtime/agent/validate.hpp"
#include "runtime/agent/verbs.hpp"

namespace tundish::agent {

/// One open per record: the kernel drops records beyond ten per five seconds and descriptor, and a
/// record without newline is not shown before the next one comes.
Result<VerbNote> verb_inject(const VerbCall& call, const VerbTools& tools) {
  TRY_VOID(validate_line(call.line));
  const int fd = ::open(tools.config.kernel_log.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd < 0) {
    return make_error(Code::unavailable, std::string("cannot open the kernel log: ") +
                                             std::strerror(errno));
  }
  const std::string record = call.line + "\n";
  const ssize_t done = ::write(fd, record.data(), record.size());
  const int fault = errno;
  ::close(fd);
  if (done == static_cast<ssize_t>(record.size())) return VerbNote{};
  return make_error(Code::unavailable, std::string("cannot write the kernel log: ") +
                                           std::strerror(done < 0 ? fault : EIO));
}

}  // namespace tundish::agent

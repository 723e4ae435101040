#include "runtime/agent/probe.hpp"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/text.hpp"
#include "codec/json.hpp"
#include "runtime/agent/gpu_work.hpp"
#include "runtime/agent/nvml_reader.hpp"
#include "runtime/agent/pair_manager.hpp"

namespace tundish::agent {
namespace {
namespace fs = std::filesystem;

void tell(const std::string& line) {
  std::fprintf(stdout, "%s\n", line.c_str());
  std::fflush(stdout);
}

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return std::string(trim(line));
}

void note_error(MountProbe& probe, const char* what) {
  if (probe.state == MountState::failed) return;
  probe.state = MountState::failed;
  probe.step = what;
  probe.error_number = errno;
  probe.error = std::strerror(errno);
}

int create_file(int folder, const std::string& name) {
  constexpr int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const int fd = ::openat(folder, name.c_str(), flags, 0600);
  if (fd >= 0 || errno != EEXIST) return fd;
  // Of a probe that was ended while the storage hung: nobody else alive has that name.
  if (::unlinkat(folder, name.c_str(), 0) != 0 && errno != ENOENT) return -1;
  return ::openat(folder, name.c_str(), flags, 0600);
}

/// Write, read back and remove: a stale mount passes everything less.
void use_file(int folder, MountProbe& probe) {
  const std::string name = probe_file_name();
  tell("step create");
  const int fd = create_file(folder, name);
  if (fd < 0) return note_error(probe, "create");
  const std::string wrote(4096, 'x');
  tell("step write");
  const auto size = static_cast<ssize_t>(wrote.size());
  if (::write(fd, wrote.data(), wrote.size()) != size || ::fsync(fd) != 0) {
    note_error(probe, "write");
  }
  tell("step read");
  std::string read(wrote.size(), '\0');
  if (::pread(fd, read.data(), read.size(), 0) != size || read != wrote) note_error(probe, "read");
  ::close(fd);
  tell("step remove");
  if (::unlinkat(folder, name.c_str(), 0) != 0) note_error(probe, "remove");
}

template <class T>
int answer(const Result<T>& result) {
  if (!result) {
    tell("error " + std::string(code_name(result.error().code)) + " " + result.error().message());
    return 1;
  }
  tell("json " + render_json(*result));
  return 0;
}

int answer_done(const Result<>& result) {
  if (result) return 0;
  tell("error " + std::string(code_name(result.error().code)) + " " + result.error().message());
  return 1;
}

Result<> serve_pair_of(const std::string& target) {
  return serve_pair(TRY(parse_pair_order(target)));
}

Result<GpuSnapshot> read_gpus(const std::string& library) {
  tell("step load");
  auto reader = TRY(NvmlReader::load(library));
  tell("step query");
  return reader->read();
}

/// Light: it stays on free nodes for a second and takes little memory.
constexpr int work_memory_mib = 1024;
constexpr int work_matrix_ms = 300;

Result<GpuWork> work_one_gpu(const std::string& pci) {
  tell("step load");
  const char* library = std::getenv("TUNDISH_CUDA_LIBRARY");
  const auto driver = TRY(CudaDriver::load(library != nullptr ? library : "libcuda.so.1"));
  tell("step work");
  GpuWorkRequest request;
  request.pci = pci;
  request.memory_mib = work_memory_mib;
  request.matrix_ms = work_matrix_ms;
  return work_gpu(driver, request);
}

}  // namespace

std::string probe_file_name() {
  char host[65] = "";
  ::gethostname(host, sizeof host - 1);
  const std::string boot = first_line("/proc/sys/kernel/random/boot_id").substr(0, 8);
  return ".tundish-probe-" + std::string(host) + "-" + boot + "-" + std::to_string(::getpid());
}

MountProbe use_mount(const std::string& target) {
  MountProbe probe;
  probe.target = target;
  probe.state = MountState::answered;
  tell("step stat");
  struct statvfs info {};
  if (::statvfs(target.c_str(), &info) != 0) {
    note_error(probe, "stat");
    return probe;
  }
  probe.read_only = (info.f_flag & ST_RDONLY) != 0;
  probe.free_bytes = static_cast<std::int64_t>(info.f_bavail * info.f_frsize);
  tell("step list");
  const int folder = ::open(target.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) {
    note_error(probe, "list");
    return probe;
  }
  if (!probe.read_only) use_file(folder, probe);
  ::close(folder);
  return probe;
}

Result<HcaList> list_hcas(const std::string& sys_dir) {
  HcaList out;
  const fs::path root = sys_dir + "/class/infiniband";
  std::error_code failed;
  if (!fs::exists(root, failed)) return out;  // no HCA driver is loaded: there is no HCA
  for (const auto& device : fs::directory_iterator(root, failed)) {
    tell("step " + device.path().filename().string());
    std::error_code port_failed;
    for (const auto& port : fs::directory_iterator(device.path() / "ports", port_failed)) {
      out.ports.push_back({device.path().filename().string(), port.path().filename().string(),
                           first_line(port.path() / "state"),
                           first_line(port.path() / "phys_state")});
    }
    if (port_failed) {
      return make_error(Code::unavailable, "an HCA has no ports: " + port_failed.message());
    }
  }
  if (failed) return make_error(Code::unavailable, root.string() + ": " + failed.message());
  std::sort(out.ports.begin(), out.ports.end(), [](const HcaPort& a, const HcaPort& b) {
    return std::tie(a.device, a.port) < std::tie(b.device, b.port);
  });
  return out;
}

int run_probe(const std::vector<std::string>& args) {
  tell("pid " + std::to_string(::getpid()));
  if (args.size() != 2) {
    tell("error invalid a probe has a kind and a target");
    return 2;
  }
  if (args[0] == "gpu_work") return answer(work_one_gpu(args[1]));
  if (args[0] == "pair") return answer_done(serve_pair_of(args[1]));
  if (args[0] == "gpus") return answer(read_gpus(args[1]));
  if (args[0] == "hcas") return answer(list_hcas(args[1]));
  if (args[0] == "mount") return answer(Result<MountProbe>(use_mount(args[1])));
  tell("error invalid no probe of that kind");
  return 2;
}

}  // namespace tundish::agent

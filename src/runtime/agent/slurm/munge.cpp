#include <filesystem>

#include "base/text.hpp"
#include "runtime/agent/slurm/place.hpp"

namespace tundish::agent::slurm {
namespace {

constexpr std::size_t key_bytes_min = 32;    // munged refuses a shorter one
constexpr std::size_t key_bytes_max = 1024;

/// The message never repeats the text: it is a secret.
Result<std::string> decode_key(const std::string& hex) {
  std::string key;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    const auto value = parse_integer(std::string_view(hex).substr(i, 2), 16);
    if (!value || *value < 0) return make_error(Code::invalid, "the munge key is not hexadecimal");
    key += static_cast<char>(*value);
  }
  if (hex.size() % 2 != 0 || key.size() < key_bytes_min || key.size() > key_bytes_max) {
    return make_error(Code::invalid, "the munge key must have 32 to 1024 bytes");
  }
  return key;
}

}  // namespace

Result<> start_munge(const MungePlace& place, const std::string& key_hex) {
  const std::string key = TRY(decode_key(key_hex));
  TRY_VOID(make_folder(place.key_folder, {"munge", 0700}));
  TRY_VOID(make_folder(place.run_folder, {"munge", 0755}));
  TRY_VOID(make_folder(place.log_folder, {"munge", 0700}));
  const bool changed = TRY(write_if_changed(place.key_file(), key, {"munge", 0400}));
  if (process::read_live_pid(place.pid_file(), "munged") > 0) {
    if (!changed) return {};
    stop_munge(place);
  }
  process::Command command;
  command.argv = {"setpriv", "--reuid=munge", "--regid=munge", "--clear-groups", "munged",
                  "--key-file=" + place.key_file(), "--socket=" + place.socket(),
                  "--pid-file=" + place.pid_file(), "--log-file=" + place.log_file(),
                  "--seed-file=" + place.seed_file()};
  TRY_VOID(run_checked(command));
  const bool up = wait_until(
      [&] { return process::read_live_pid(place.pid_file(), "munged") > 0; }, seconds(5));
  if (!up) {
    return make_error(Code::unavailable, "munged did not start: " + log_tail(place.log_file()));
  }
  return {};
}

void stop_munge(const MungePlace& place) {
  const int pid = process::read_live_pid(place.pid_file(), "munged");
  if (pid > 0) process::stop_process(pid, seconds(3));
  std::error_code ignored;
  for (const auto& file : {place.socket(), place.socket() + ".lock", place.pid_file()}) {
    std::filesystem::remove(file, ignored);
  }
}

}  // namespace tundish::agent::slurm

#include "runtime/agent/mounts.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/text.hpp"
#include "codec/json.hpp"
#include "runtime/agent/validate.hpp"
#include "runtime/process/process.hpp"

namespace tundish::agent {
namespace {
namespace fs = std::filesystem;

struct ExportList {
  std::vector<ExportMount> exports;
  void fields(Fields& f) { f(1, "exports", exports, "storage that setup_node was told to mount"); }
};

/// \040 and the like.
std::string unescape(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      const auto value = parse_integer(std::string_view(text).substr(i + 1, 3), 8);
      if (value) {
        out += static_cast<char>(*value);
        i += 3;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

}  // namespace

Result<> run_tool(std::vector<std::string> argv, Duration limit) {
  process::Command command;
  command.argv = std::move(argv);
  command.limit = limit;
  const auto output = TRY(process::run(command));
  if (output.ok()) return {};
  return make_error(output.timed_out ? Code::timeout : Code::unavailable,
                    join(command.argv, " ") + ": " + output.summary());
}

/// A tenant's link in the path would let the mount land anywhere.
Result<> make_mount_point(const std::string& target) {
  std::string at;
  for (const auto& part : split(std::string_view(target).substr(1), '/')) {
    at += "/" + part;
    struct stat info {};
    if (::lstat(at.c_str(), &info) == 0) {
      if (S_ISDIR(info.st_mode)) continue;
      return make_error(Code::conflict, "mount point " + at + " is no folder");
    }
    if (::mkdir(at.c_str(), 0755) != 0 && errno != EEXIST) {
      return make_error(Code::unavailable, "cannot make " + at + ": " + std::strerror(errno));
    }
  }
  return {};
}

std::vector<MountPoint> parse_mounts(const std::string& mountinfo) {
  std::vector<MountPoint> out;
  for (const auto& line : split(mountinfo, '\n')) {
    const auto parts = split(line, ' ');
    const auto dash = std::find(parts.begin(), parts.end(), "-");
    if (parts.size() < 10 || parts.end() - dash < 4) continue;
    out.push_back({unescape(parts[4]), *(dash + 1), unescape(parts[3]),
                   parts[5] + "," + *(dash + 3)});
  }
  return out;
}

Result<std::vector<MountPoint>> load_mounts() {
  return parse_mounts(TRY(process::read_file("/proc/self/mountinfo")));
}

const MountPoint* find_mount(const std::vector<MountPoint>& mounts, const std::string& target) {
  const auto it = std::find_if(mounts.rbegin(), mounts.rend(),
                               [&](const MountPoint& m) { return m.target == target; });
  return it == mounts.rend() ? nullptr : &*it;
}

Result<std::vector<ExportMount>> ExportRecord::load() const {
  const auto text = process::read_file(path_);
  if (!text && text.error().code == Code::not_found) return std::vector<ExportMount>();
  if (!text) return text.error();
  ExportList list;
  TRY_VOID(parse_json(*text, list, Unknown::keep_out));
  return list.exports;
}

Result<> ExportRecord::save(const std::vector<ExportMount>& exports) const {
  ExportList list{exports};
  return process::write_file_atomic(path_, render_json(list), 0600);
}

Result<> mount_export(const ExportMount& mount, Duration limit) {
  const auto mounts = TRY(load_mounts());
  if (find_mount(mounts, mount.target) != nullptr) return {};
  TRY_VOID(make_mount_point(mount.target));
  if (mount.type == "bind") {
    // The folder belongs to the storage; a link in it must not lead out of it.
    std::error_code failed;
    // A folder has no server that would make an export for a new tenant: the first node does.
    if (::mkdir(mount.source.c_str(), 0755) == 0) {
      fs::permissions(mount.source, fs::perms(0755), failed);
    }
    const auto real = fs::canonical(mount.source, failed);
    if (failed) return make_error(Code::not_found, "storage " + mount.source + " is not there");
    if (real.string() != mount.source) {
      return make_error(Code::invalid, "storage " + mount.source + " is a link");
    }
    TRY_VOID(run_tool({"mount", "--bind", mount.source, mount.target}, limit));
    return run_tool({"mount", "-o", "remount,bind,nosuid,nodev", mount.target}, limit);
  }
  return run_tool({"mount", "-t", "nfs", "-o", "nosuid,nodev", mount.source, mount.target}, limit);
}

Result<> unmount_exports(const std::vector<ExportMount>& exports, Duration limit) {
  auto mounts = TRY(load_mounts());
  std::reverse(mounts.begin(), mounts.end());  // the newest lies on top
  for (const auto& mount : mounts) {
    const bool ours = std::any_of(exports.begin(), exports.end(), [&](const ExportMount& e) {
      return mount.target == e.target || is_below(mount.target, e.target);
    });
    if (!ours) continue;
    if (run_tool({"umount", mount.target}, limit)) continue;
    // Hung or busy: out of the name space now, freed when the storage answers again.
    TRY_VOID(run_tool({"umount", "-l", mount.target}, limit));
  }
  return {};
}

Result<> remove_tree(const std::string& path) {
  for (const auto& mount : TRY(load_mounts())) {
    if (mount.target == path || is_below(mount.target, path)) {
      return make_error(Code::conflict, "will not delete " + path + ": " + mount.target +
                                            " is still mounted");
    }
  }
  std::error_code failed;
  fs::remove_all(path, failed);
  if (!failed) return {};
  return make_error(Code::unavailable, "cannot remove " + path + ": " + failed.message());
}

}  // namespace tundish::agent

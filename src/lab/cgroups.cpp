#include "lab/cgroups.hpp"

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>

#include "lab/namespaces.hpp"

namespace tundish::lab {
namespace fs = std::filesystem;
namespace {

constexpr int period_us = 100000;
const std::string base = "/sys/fs/cgroup";

struct Hierarchy {
  std::string folder;      ///< where it is mounted
  std::string type;        ///< of the file system: cgroup or cgroup2
  std::string controller;  ///< mount option of version 1
};

/// Hierarchies that nodes take part in. Memory stays with the caller: its limits are not ours.
std::vector<Hierarchy> hierarchies() {
  std::error_code ignored;
  if (fs::exists(base + "/cgroup.controllers", ignored)) return {{base, "cgroup2", ""}};
  std::vector<Hierarchy> found;
  for (const std::string name : {"cpu", "freezer"}) {
    const std::string folder = base + "/" + name;
    if (fs::exists(folder + "/cgroup.procs", ignored)) found.push_back({folder, "cgroup", name});
  }
  if (fs::exists(base + "/unified/cgroup.procs", ignored)) {
    found.push_back({base + "/unified", "cgroup2", ""});
  }
  return found;
}

void set_quota(const Hierarchy& hierarchy, const std::string& folder, const LabSpec& spec,
               CgroupReport& report) {
  const std::string quota = std::to_string(spec.cpu_percent * (period_us / 100));
  Result<> set;
  if (hierarchy.controller == "cpu") {
    set = write_text(folder + "/cpu.cfs_period_us", std::to_string(period_us));
    if (set) set = write_text(folder + "/cpu.cfs_quota_us", quota);
  } else if (hierarchy.folder == base) {
    set = write_text(folder + "/cpu.max", quota + " " + std::to_string(period_us));
  }
  if (!set) report.problems.push_back(set.error().message());
}

void enable_controllers(const Hierarchy& hierarchy, const std::string& lab) {
  if (hierarchy.folder != base) return;
  for (const auto& folder : {base, lab}) {
    (void)write_text(folder + "/cgroup.subtree_control", "+cpu");  // set_quota reports the effect
  }
}

void remove_tree(const fs::path& folder, std::vector<std::string>& left) {
  std::error_code ignored;
  std::vector<fs::path> inner;
  for (fs::directory_iterator it(folder, ignored), end; it != end; it.increment(ignored)) {
    if (it->is_directory(ignored)) inner.push_back(it->path());
  }
  for (const auto& path : inner) remove_tree(path, left);
  if (::rmdir(folder.c_str()) != 0 && fs::exists(folder, ignored)) left.push_back(folder.string());
}

}  // namespace

CgroupReport place_node(const LabSpec& spec, const std::string& node, int pid) {
  CgroupReport report;
  const auto all = hierarchies();
  if (all.empty()) report.problems.push_back("no control group hierarchy below " + base);
  for (const auto& hierarchy : all) {
    const std::string lab = hierarchy.folder + "/" + cgroup_name(spec);
    const std::string folder = lab + "/" + node;
    const auto made = make_folder(folder);
    if (!made) {
      report.problems.push_back(made.error().message());
      continue;
    }
    enable_controllers(hierarchy, lab);
    set_quota(hierarchy, folder, spec, report);
    const auto moved = write_text(folder + "/cgroup.procs", std::to_string(pid));
    if (moved) {
      report.folders.push_back(folder);
    } else {
      report.problems.push_back(moved.error().message());
    }
  }
  return report;
}

std::vector<std::string> node_groups(const LabSpec& spec, const std::string& node) {
  std::vector<std::string> folders;
  for (const auto& hierarchy : hierarchies()) {
    std::string folder = hierarchy.folder + "/" + cgroup_name(spec) + "/" + node;
    std::error_code ignored;
    if (fs::exists(folder, ignored)) folders.push_back(std::move(folder));
  }
  return folders;
}

std::vector<std::string> remove_groups(const LabSpec& spec) {
  std::vector<std::string> left;
  for (const auto& hierarchy : hierarchies()) {
    const fs::path folder = hierarchy.folder + "/" + cgroup_name(spec);
    std::error_code ignored;
    if (fs::exists(folder, ignored)) remove_tree(folder, left);
  }
  return left;
}

std::vector<std::string> mount_node_groups(const std::string& root) {
  std::vector<std::string> problems;
  const auto note = [&](const Result<>& done) {
    if (!done) problems.push_back(done.error().message());
  };
  const auto joined = hierarchies();
  std::vector<fs::path> others;
  std::error_code ignored;
  for (fs::directory_iterator it(base, ignored), end; it != end; it.increment(ignored)) {
    others.push_back(it->path());
  }
  if (::unshare(CLONE_NEWCGROUP) != 0) {
    problems.push_back(system_error("cannot make a cgroup namespace").message());
    return problems;
  }
  if (joined.size() == 1 && joined[0].folder == base) {
    note(mount_at({"cgroup2", root + base, "cgroup2", 0, ""}));
    return problems;
  }
  note(mount_at({"tmpfs", root + base, "tmpfs", 0, "mode=755"}));
  for (const auto& path : others) {
    if (!fs::is_directory(path, ignored) || fs::is_symlink(path, ignored)) continue;
    const std::string target = root + path.string();
    note(make_folder(target));
    bool own = false;
    for (const auto& hierarchy : joined) {
      if (hierarchy.folder != path) continue;
      note(mount_at({hierarchy.type, target, hierarchy.type, 0, hierarchy.controller}));
      own = true;
    }
    if (own) continue;
    note(bind_mount({path.string(), target}));
    note(remount_read_only(target));
  }
  return problems;
}

}  // namespace tundish::lab

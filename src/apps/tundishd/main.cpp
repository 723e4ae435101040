// tundishd: store, controllers and API of one site.
#include <cstdio>
#include <string>

#include "apps/tundishd/catalogue.hpp"
#include "apps/tundishd/config_help.hpp"
#include "apps/tundishd/daemon.hpp"
#include "apps/tundishd/first_start.hpp"
#include "codec/yaml.hpp"
#include "runtime/process/process.hpp"
#include "runtime/store_sqlite/restore.hpp"

namespace {

int fail(const tundish::Error& error, int code) {
  std::fprintf(stderr, "tundishd: %s\n", error.message().c_str());
  return code;
}

/// The restored store starts on hold; what runs outside is left alone until it is released.
int restore(const std::string& backup, const tundish::tundishd::DaemonConfig& config) {
  const std::string store = config.state_dir + "/store.sqlite";
  if (const auto done = tundish::restore_store(backup, store); !done) return fail(done.error(), 3);
  std::printf(
      "%s holds %s now, in a new epoch and on hold; start tundishd, check with tundish "
      "doctor, then release the hold\n",
      store.c_str(), backup.c_str());
  return 0;
}

/// What a start would refuse, without a start: no file is written, nothing is reached.
int check(const std::string& file, const tundish::tundishd::DaemonConfig& config) {
  const auto catalogues = tundish::tundishd::load_catalogues(config);
  if (!catalogues) return fail(catalogues.error(), 3);
  const auto fabrics = tundish::tundishd::check_fabrics(config);
  if (!fabrics) return fail(fabrics.error(), 3);
  for (const auto* path : {&config.switch_key_file, &config.bmc_password_file, &config.tls_cert,
                           &config.tls_key, &config.ca_file}) {
    if (path->empty()) continue;
    if (const auto there = tundish::process::read_file(*path); !there) {
      return fail(there.error(), 3);
    }
  }
  std::printf("%s: ok, fabrics: %d\n", file.c_str(), *fabrics);
  return 0;
}

enum class Task { run, check };

}  // namespace

int main(int argc, char** argv) {
  std::string file = "/etc/tundish/tundishd.yaml", backup;
  Task task = Task::run;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--config" && i + 1 < argc) {
      file = argv[++i];
    } else if (flag == "--restore" && i + 1 < argc) {
      backup = argv[++i];
    } else if (flag == "--check") {
      task = Task::check;
    } else if (flag == "--version") {
      std::printf("tundishd %s\n", TUNDISH_VERSION);
      return 0;
    } else {
      const bool asked = flag == "--help" || flag == "-h";
      if (!asked) {
        std::fprintf(stderr, "tundishd: %s is no flag, or lacks its value\n", flag.c_str());
      }
      std::fprintf(asked ? stdout : stderr, "%s", tundish::tundishd::render_help().c_str());
      return asked ? 0 : 2;
    }
  }
  tundish::tundishd::DaemonConfig config;
  const auto text = tundish::process::read_file(file);
  if (!text) return fail(text.error(), 3);
  if (const auto parsed = tundish::parse_yaml(*text, config, file); !parsed) {
    return fail(parsed.error(), 3);
  }
  if (task == Task::check) return check(file, config);
  if (!backup.empty()) return restore(backup, config);
  if (const auto ran = tundish::tundishd::run_daemon(config); !ran) return fail(ran.error(), 1);
  return 0;
}

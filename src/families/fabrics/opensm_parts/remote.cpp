#include "families/fabrics/opensm_parts/remote.hpp"

#include <utility>

#include "base/text.hpp"
#include "families/fabrics/opensm_parts/scripts.hpp"

namespace tundish::fabrics {
namespace {

std::string last_line(std::string_view text) {
  text = trim(text);
  return std::string(text.substr(text.rfind('\n') + 1).substr(0, 200));
}

/// Exit codes of the scripts, after sysexits.h.
Code code_of(int rc) {
  switch (rc) {
    case 73:
    case 74: return Code::internal;
    case 75:
    case 76: return Code::conflict;
    default: return Code::unavailable;
  }
}

std::optional<std::string> sum_of(const std::string& line) {
  if (!line.starts_with("sha256 ") || line.size() != 7 + 64) return std::nullopt;
  return line.substr(7);
}

}  // namespace

Result<RemoteFile> parse_remote_file(const std::string& output) {
  const auto end = output.find('\n');
  const std::string first = output.substr(0, end);
  if (first == "absent") return RemoteFile{"", "absent"};
  const std::string tried = " tried";
  const bool is_tried = first.ends_with(tried);
  const auto sum = sum_of(is_tried ? first.substr(0, first.size() - tried.size()) : first);
  if (!sum || end == std::string::npos) {
    return make_error(Code::corrupt, "the manager's node gave no partitions.conf");
  }
  return RemoteFile{output.substr(end + 1), *sum, is_tried};
}

void RemoteManager::run(Script script, Then<std::string> then) {
  const Duration left = deadline_ - now();
  const std::string fabric = "fabric " + ref_.name;
  if (left <= Duration{}) {
    then(make_error(Code::timeout, fabric + ": no time left for " + script.what));
    return;
  }
  ExecRequest request;
  request.target = script.target.empty() ? ref_.management_url : script.target;
  request.argv = {"sh", "-c", std::string(script.text), "tundish"};
  request.argv.insert(request.argv.end(), script.words.begin(), script.words.end());
  request.input = std::move(script.input);
  exec_.start(
      std::move(request), left,
      [what = script.what, fabric, then = std::move(then)](Result<ExecOutput> output) {
        if (!output) return then(Error(output.error()).wrap(fabric + ": " + what));
        if (output->rc == 0) return then(std::move(output->out));
        then(make_error(code_of(output->rc), fabric + ": " + what + ": " + last_line(output->err) +
                                                 " (exit " + std::to_string(output->rc) + ")")
                 .about("fabric/" + fabric.substr(7)));
      });
}

void RemoteManager::read_file(Then<RemoteFile> then) {
  run({"reading partitions.conf", read_script, {site_.file}},
      [then = std::move(then)](Result<std::string> output) {
        if (!output) return then(output.error());
        then(parse_remote_file(*output));
      });
}

void RemoteManager::sweep(Then<Sweep> then) {
  run({"reading the ports", sweep_script, site_.tool_environment},
      [then = std::move(then)](Result<std::string> output) {
        if (!output) return then(output.error());
        then(parse_sweep(*output));
      });
}

void RemoteManager::try_on_canary(const std::string& text, const FabricState& desired,
                                  Then<std::string> then) {
  const Canary canary = make_canary(desired, text, site_.canary_members);
  run({"trying partitions.conf on the canary",
       canary_script,
       {std::to_string(canary.net.size()), canary.manager_node},
       canary.net + text,
       site_.canary_target},
      [=, ownership = ref_.ownership, then = std::move(then)](Result<std::string> output) {
        if (!output) return then(output.error());
        const auto verdict = judge_canary(*output, desired, canary, ownership, text);
        if (!verdict) return then(verdict.error());
        const auto sum = sum_of(last_line(*output));
        if (!sum) return then(make_error(Code::corrupt, "the canary does not say what it tried"));
        then(*sum);
      });
}

void RemoteManager::install(const std::string& text, const std::string& new_sum,
                            const std::string& old_sum, Then<void> then) {
  run({"putting partitions.conf in place", install_script, {site_.file, new_sum, old_sum}, text},
      [then = std::move(then)](Result<std::string> output) {
        if (!output) return then(output.error());
        then({});
      });
}

void RemoteManager::withdraw(const std::string& text, const std::string& old_sum,
                             Then<std::string> then) {
  const std::string script =
      std::string(withdraw_script) + std::string(reload_script) + std::string(withdraw_end);
  run({"taking members out of partitions.conf",
       script,
       {site_.file, std::to_string(text.size()), old_sum, site_.pid_file},
       text},
      [then = std::move(then)](Result<std::string> output) {
        if (!output) return then(output.error());
        const auto sum = sum_of(last_line(*output));
        if (!sum) return then(make_error(Code::corrupt, "the manager's node does not say the sum"));
        then(*sum);
      });
}

void RemoteManager::reload(Then<void> then) {
  run({"telling opensm to read its files", reload_script, {site_.pid_file}},
      [then = std::move(then)](Result<std::string> output) {
        if (!output) return then(output.error());
        then({});
      });
}

void RemoteManager::find_paths(std::vector<FabricPath> asked, Then<std::vector<FabricPath>> then) {
  std::string lines;
  for (const auto& path : asked) lines += path.from + " " + path.to + "\n";
  run({"asking for paths", paths_script, site_.tool_environment, lines},
      [asked = std::move(asked), then = std::move(then)](Result<std::string> output) {
        if (!output) return then(output.error());
        then(read_paths(*output, asked));
      });
}

}  // namespace tundish::fabrics

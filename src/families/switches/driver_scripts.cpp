#include "families/switches/driver_scripts.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace tundish::switches {
namespace {

/// One change or read of a switch at a time; a reader waits for a change that still runs although
/// its caller is gone. Messages go to standard error: `fail` ends the program.
constexpr std::string_view common = R"sh(
fail() { printf '%s\n' "$*" >&2; exit 2; }
take_lock() {
  trap '' HUP PIPE
  export LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  umask 077
  mkdir -p /run/tundish || fail "cannot make /run/tundish"
  exec 9>/run/tundish/lock
  flock -w "$1" 9 || fail "another change of this switch has not ended in $1 s"
}
change=/run/tundish/change
)sh";

/// `log` says which command of which step was about to run. After a crash that one is taken again,
/// and may fail because it had run; all others have to succeed. The kind of switch brings
/// `play_file`, which runs the text of one step.
constexpr std::string_view player = R"sh(
give_up() {
  rm -rf $change
  printf '@failed %s\n%s\n' "$1" "$2"
  exit 3
}
begin() {
  printf '%s %s\n' "$1" "$2" >>$change/log
  may_fail=$tolerant
  [ "$1 $2" = "$cut" ] && may_fail=yes
  return 0
}
play() {
  cut=
  [ -s $change/log ] && cut=$(tail -n 1 $change/log)
  tolerant=no
  [ -e $change/tolerant ] && tolerant=yes
  for file in $change/*.step.*; do
    [ -e "$file" ] || continue
    number=${file##*/}
    number=${number%%.*}
    [ -n "$cut" ] && [ "$number" -lt "${cut% *}" ] && continue
    play_file
  done
  play_end
  rm -rf $change
}
section() { printf '@@ %s %s %s\n%s\n' "$1" "$2" "${#3}" "$3"; }
)sh";

/// Numbers of steps begin behind this one, so that their names sort.
constexpr int step_base = 1000;

std::string seconds_text(Duration limit) { return std::to_string(std::max(1L, limit.ms() / 1000)); }

}  // namespace

std::string end_mark(const std::vector<SwitchStep>& steps) {
  std::string mark = "END-OF-TEXT";
  const auto holds = [&](const SwitchStep& step) {
    return step.text.find(mark) != std::string::npos;
  };
  while (std::any_of(steps.begin(), steps.end(), holds)) mark += "X";
  return mark;
}

std::string shell_file(const std::string& path, const std::string& text, const std::string& mark) {
  std::string out = "cat >" + path + " <<'" + mark + "' || fail 'cannot write'\n" + text;
  if (!text.ends_with('\n')) out += "\n";
  return out + mark + "\n";
}

std::string shell_program(std::string_view tools, const std::string& body, Duration limit) {
  return std::string(common) + std::string(player) + std::string(tools) + "main() {\ntake_lock " +
         seconds_text(limit) + "\n" + body + "}\nmain\n";
}

std::string shell_run_program(std::string_view tools, const std::vector<SwitchStep>& steps,
                              const ShellRun& how, Duration limit) {
  const std::string mark = end_mark(steps);
  std::string body =
      "[ -d $change ] && fail 'an interrupted change waits'\n"
      "rm -rf $change.new\nmkdir $change.new || fail 'cannot make a folder'\n";
  if (how.mode == StepMode::tolerant) body += ": >$change.new/tolerant\n";
  for (const auto& flag : how.flags) body += ": >$change.new/" + flag + "\n";
  int number = step_base;
  for (const auto& step : steps) {
    body += shell_file("$change.new/" + std::to_string(++number) + ".step." + step.file, step.text,
                       mark);
  }
  return shell_program(tools, body + "mv $change.new $change || fail 'cannot begin'\nplay\n",
                       limit);
}

Result<std::vector<ShellSection>> parse_shell_sections(std::string_view answer,
                                                       std::string_view must_have) {
  const auto cut = [] { return make_error(Code::unavailable, "its answer is cut off or garbled"); };
  std::vector<ShellSection> out;
  while (!answer.empty()) {
    const auto end = answer.find('\n');
    if (end == std::string_view::npos) return cut();
    const auto words = split(answer.substr(0, end), ' ');
    const auto size =
        words.size() == 4 && words[0] == "@@" ? parse_integer(words[3]) : std::nullopt;
    answer.remove_prefix(end + 1);
    if (!size || *size < 0 || static_cast<std::size_t>(*size) + 1 > answer.size()) return cut();
    const auto length = static_cast<std::size_t>(*size);
    out.push_back({words[1], words[2], std::string(answer.substr(0, length))});
    if (answer[length] != '\n') return cut();
    answer.remove_prefix(length + 1);
  }
  const bool whole = std::any_of(out.begin(), out.end(),
                                 [&](const auto& section) { return section.kind == must_have; });
  if (!whole) return cut();
  return out;
}

Result<std::string> shell_outcome(const Result<ExecOutput>& output,
                                  const std::vector<std::string>& steps) {
  if (!output) return output.error();
  if (output->rc == 0) return output->out;
  if (!output->out.starts_with("@failed ")) {
    return make_error(Code::unavailable, output->err.empty() ? "exit " + std::to_string(output->rc)
                                                             : std::string(trim(output->err)));
  }
  const auto end = output->out.find('\n');
  const auto number = parse_integer(trim(output->out.substr(7, end - 7))).value_or(0) - step_base;
  std::string what = "a step";
  if (number >= 1 && number <= static_cast<std::int64_t>(steps.size())) {
    what = "\"" + steps[static_cast<std::size_t>(number - 1)] + "\"";
  }
  const std::string said(trim(end == std::string::npos ? "" : output->out.substr(end + 1)));
  return make_error(Code::unavailable, what + " failed: " + said);
}

}  // namespace tundish::switches

#include "families/switches/driver_frr_scripts.hpp"

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
/// and may fail because it had run; all others have to succeed. A line of a kernel step is a whole
/// command.
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
play_kernel() {
  line=0
  while IFS= read -r command; do
    line=$((line + 1))
    [ "$number" = "${cut% *}" ] && [ $line -lt "${cut#* }" ] && continue
    begin "$number" $line
    out=$(eval "$command" 2>&1 </dev/null 9>&-) || [ $may_fail = yes ] ||
      give_up "$number" "$command: $out"
  done <"$file"
}
play_vtysh() {
  begin "$number" 1
  out=$(vtysh -f "$file" 2>&1 </dev/null 9>&-)
  [ $? -eq 0 ] || [ $may_fail = yes ] || give_up "$number" "$out"
}
play_nft() {
  begin "$number" 1
  IFS= read -r head <"$file"
  case $head in
  '# netns '*) out=$(nsenter --net="/run/netns/${head#\# netns }" nft -f "$file" 2>&1 9>&-) ;;
  *) out=$(nft -f "$file" 2>&1 9>&-) ;;
  esac
  [ $? -eq 0 ] || [ $may_fail = yes ] || give_up "$number" "$out"
}
# FRR 8.4 joins the L3VNI of a new namespace with its tunnel only when that goes down and up, and
# that counts only once zebra has read the namespace. Source: facts/lab.md 2; checked 2026-11.
wake_tunnels() {
  for turn in 1 2 3 4 5 6 7 8 9 10; do
    asleep=
    while read -r vrf vni rest; do
      set -- $rest
      [ "${3:-}" = Up ] || [ ! -e "/run/netns/$vrf" ] && continue
      ip -n "$vrf" link set dev "vx$vni" down 2>/dev/null || continue
      ip -n "$vrf" link set dev "vx$vni" up
      asleep="$asleep $vrf"
    done <<TABLE
$(vtysh -c 'show vrf vni' 2>/dev/null </dev/null 9>&-)
TABLE
    [ -z "$asleep" ] && return
    sleep 0.2
  done
  give_up "$number" "the L3VNI stays down of$asleep"
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
    case $file in
    *.vtysh) play_vtysh ;;
    *.nft) play_nft ;;
    *) play_kernel ;;
    esac
  done
  [ -e $change/wake ] && wake_tunnels
  rm -rf $change
}
)sh";

constexpr std::string_view reader = R"sh(
section() { printf '@@ %s %s %s\n%s\n' "$1" "$2" "${#3}" "$3"; }
filter() {
  if out=$("$@" nft -nn list table ip tundish 2>&1); then
    section nft "$netns" "$out"
  else
    case $out in *'No such file'*) ;; *) fail "nft: $out" ;; esac
  fi
}
one_netns() {
  out=$("$@" ip -j -d addr show 2>&1) || fail "ip: $out"
  section addr "$netns" "$out"
  filter "$@"
}
read_all() {
  [ -d $change ] && section interrupted - yes
  out=$(vtysh -c 'show daemons' 2>&1) || fail "vtysh: $out"
  for daemon in zebra bgpd staticd; do
    case " $out " in *" $daemon "*) ;; *) fail "$daemon does not run" ;; esac
  done
  out=$(vtysh -c 'show running-config' 2>&1) || fail "vtysh: $out"
  section conf - "$out"
  netns=-
  one_netns env
  for at in /run/netns/*; do
    [ -e "$at" ] || continue
    netns=${at##*/}
    one_netns nsenter --net="$at"
  done
  netns=-
  out=$(bridge -j vlan show 2>/dev/null) && section vlan - "$out"
  out=$(bridge -j vlan tunnelshow 2>/dev/null) && section tunnel - "$out"
  command -v lldpcli >/dev/null || return 0
  for socket in /run/lldpd.socket /run/lldpd.*.socket; do
    [ -S "$socket" ] || continue
    out=$(timeout 2 lldpcli -u "$socket" -f json0 show neighbors 2>/dev/null) &&
      section lldp - "$out"
  done
  return 0
}
)sh";

constexpr std::string_view saver = R"sh(
save() {
  mkdir -p /etc/network || fail "cannot make /etc/network"
  chmod 755 $change.up && mv $change.up /etc/network/switch-up ||
    fail "cannot write /etc/network/switch-up"
  out=$(vtysh -c 'write memory' 2>&1 </dev/null) || fail "write memory: $out"
  case $out in *'onfiguration saved'*) ;; *) fail "write memory: $out" ;; esac
}
)sh";

std::string seconds_text(Duration limit) { return std::to_string(std::max(1L, limit.ms() / 1000)); }

/// A line that is in none of the texts.
std::string end_mark(const std::vector<SwitchStep>& steps) {
  std::string mark = "END-OF-TEXT";
  const auto holds = [&](const SwitchStep& step) {
    return step.text.find(mark) != std::string::npos;
  };
  while (std::any_of(steps.begin(), steps.end(), holds)) mark += "X";
  return mark;
}

std::string write_file(const std::string& path, const std::string& text, const std::string& mark) {
  std::string out = "cat >" + path + " <<'" + mark + "' || fail 'cannot write'\n" + text;
  if (!text.ends_with('\n')) out += "\n";
  return out + mark + "\n";
}

std::string program(std::initializer_list<std::string_view> parts, const std::string& body) {
  std::string out;
  for (const auto part : parts) out += part;
  return out + "main() {\n" + body + "}\nmain\n";
}

/// What to run before FRR starts: the kernel's part, whatever of it is possible.
std::string startup_text(const std::vector<SwitchStep>& from_nothing) {
  std::string out = "#!/bin/sh\n# Written by Tundish at every change: its part of the kernel.\n";
  const std::string mark = end_mark(from_nothing);
  for (const auto& step : from_nothing) {
    if (step.file == "kernel") out += step.text;
    if (step.file != "nft") continue;
    const std::string_view head = "# netns ";
    std::string tool = "nft";
    if (step.text.starts_with(head)) {
      const auto end = step.text.find('\n');
      tool =
          "nsenter --net=/run/netns/" + step.text.substr(head.size(), end - head.size()) + " nft";
    }
    out += tool + " -f - <<'" + mark + "'\n" + step.text + mark + "\n";
  }
  return out + "exit 0\n";
}

}  // namespace

std::string frr_read_program(Duration limit) {
  return program({common, reader}, "take_lock " + seconds_text(limit) + "\nread_all\n");
}

std::string frr_run_program(const std::vector<SwitchStep>& steps, StepMode mode, Duration limit) {
  const std::string mark = end_mark(steps);
  std::string body = "take_lock " + seconds_text(limit) +
                     "\n[ -d $change ] && fail 'an interrupted change waits'\n"
                     "rm -rf $change.new\nmkdir $change.new || fail 'cannot make a folder'\n";
  if (mode == StepMode::tolerant) body += ": >$change.new/tolerant\n";
  const bool tunnels = std::any_of(steps.begin(), steps.end(), [](const SwitchStep& step) {
    return step.file == "kernel" && step.text.find("ip netns add ") != std::string::npos;
  });
  if (tunnels) body += ": >$change.new/wake\n";
  int number = 1000;
  for (const auto& step : steps) {
    body += write_file("$change.new/" + std::to_string(++number) + ".step." + step.file, step.text,
                       mark);
  }
  return program({common, player}, body + "mv $change.new $change || fail 'cannot begin'\nplay\n");
}

std::string frr_resume_program(Duration limit) {
  return program({common, player}, "take_lock " + seconds_text(limit) + "\nplay\n");
}

std::string frr_save_program(const std::vector<SwitchStep>& from_nothing, Duration limit) {
  SwitchStep startup{"", "", startup_text(from_nothing)};
  return program({common, saver}, "take_lock " + seconds_text(limit) + "\n" +
                                      write_file("$change.up", startup.text, end_mark({startup})) +
                                      "save\n");
}

Result<std::vector<FrrSection>> parse_frr_sections(std::string_view answer) {
  const auto cut = [] { return make_error(Code::unavailable, "its answer is cut off or garbled"); };
  std::vector<FrrSection> out;
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
                                 [](const auto& section) { return section.kind == "conf"; });
  if (!whole) return cut();
  return out;
}

}  // namespace tundish::switches

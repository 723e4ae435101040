#include "families/switches/driver_frr_scripts.hpp"

#include <algorithm>

namespace tundish::switches {
namespace {

/// A line of a kernel step is a whole command.
constexpr std::string_view player = R"sh(
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
play_file() {
  case $file in
  *.vtysh) play_vtysh ;;
  *.nft) play_nft ;;
  *) play_kernel ;;
  esac
}
play_end() { if [ -e $change/wake ]; then wake_tunnels; fi; }
)sh";

constexpr std::string_view reader = R"sh(
# In the namespace of the underlay only our tables are our matter; in a tenant's all that is there.
filter() {
  all=
  for what in 'table ip tundish' 'table ip6 tundish'; do
    [ "$netns" = - ] || what=ruleset
    if out=$("$@" nft -nn list $what 2>&1); then
      all="$all$out
"
    else
      case $out in *'No such file'*) ;; *) fail "nft: $out" ;; esac
    fi
    [ "$netns" = - ] || break
  done
  all=${all%?}
  [ -z "$all" ] || section nft "$netns" "$all"
}
# By number: 196 and 4 are both called static where FRR brought its names.
routes() {
  out=$("$@" ip -N -j route show table all 2>&1) || fail "ip route: $out"
  section route "$netns" "$out"
  [ -e /proc/sys/net/ipv6 ] || return 0
  out=$("$@" grep -rl --include=disable_ipv6 0 /proc/sys/net/ipv6/conf)
  [ -n "$out" ] || return 0  # and where nothing speaks IPv6 there is no route of it
  section six "$netns" "$out"
  out=$("$@" ip -6 -N -j route show table all 2>&1) || fail "ip -6 route: $out"
  section route6 "$netns" "$out"
}
# What FRR means to be in the VRFs that may be ours, whoever these are of, and the answer to a
# question behind it: each call of vtysh takes long. Asked before and after the kernel is read,
# since routes come and go.
ask() {
  question=$1
  set --
  for name in /run/netns/* $(ip -br link show type vrf 2>/dev/null); do
    case $name in
    *[0-9][0-9][0-9][0-9][0-9]) set -- "$@" -c "show ip route vrf ${name##*/}" ;;
    esac
  done
  out=$(vtysh "$@" -c "$question" 2>&1) || out=$(vtysh -c "$question" 2>&1) || fail "vtysh: $out"
}
# DEVICE FAR_END [VNI] of each tunnel, whoever wrote it: FRR, or a hand. By the kernel, because FRR
# does not know of what it did not write itself.
peers() {
  out=$("$@" bridge fdb show 2>&1) || fail "bridge fdb: $out"
  out=$(printf '%s\n' "$out" | awk '{ dev = dst = vni = ""
    for (i = 2; i < NF; i++) {
      if ($i == "dev") dev = $(i + 1)
      if ($i == "dst") dst = $(i + 1)
      if ($i == "src_vni") vni = $(i + 1) }
    if (dst != "") print dev, dst, vni }' | sort -u)
  [ -z "$out" ] || section peer "$netns" "$out"
}
one_netns() {
  out=$("$@" ip -j -d addr show 2>&1) || fail "ip: $out"
  section addr "$netns" "$out"
  # What this namespace calls the others: where the far end of a pair is.
  case $out in *link_netnsid*) out=$("$@" ip netns list-id 2>/dev/null) || out= ;; *) out= ;; esac
  [ -z "$out" ] || section nsid "$netns" "$out"
  filter "$@"
  routes "$@"
  peers "$@"
}
read_all() {
  [ -d $change ] && section interrupted - yes
  ask 'show daemons'
  section rib - "$out"
  daemons=$(printf '%s\n' "$out" | tail -n 1)
  for daemon in zebra bgpd staticd; do
    case " $daemons " in *" $daemon "*) ;; *) fail "$daemon does not run" ;; esac
  done
  netns=-
  one_netns env
  for at in /run/netns/*; do
    [ -e "$at" ] || continue
    netns=${at##*/}
    one_netns nsenter --net="$at"
  done
  netns=-
  ask 'show running-config'
  head='Building configuration'
  section rib - "${out%%"$head"*}"
  section conf - "$head${out#*"$head"}"
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

std::string tools(std::string_view more) { return std::string(player) + std::string(more); }

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
  return shell_program(tools(reader), "read_all\n", limit);
}

std::string frr_run_program(const std::vector<SwitchStep>& steps, StepMode mode, Duration limit) {
  ShellRun how{mode, {}};
  const bool tunnels = std::any_of(steps.begin(), steps.end(), [](const SwitchStep& step) {
    return step.file == "kernel" && step.text.find("ip netns add ") != std::string::npos;
  });
  if (tunnels) how.flags.push_back("wake");
  return shell_run_program(player, steps, how, limit);
}

std::string frr_resume_program(Duration limit) { return shell_program(player, "play\n", limit); }

std::string frr_save_program(const std::vector<SwitchStep>& from_nothing, Duration limit) {
  SwitchStep startup{"", "", startup_text(from_nothing)};
  return shell_program(
      tools(saver), shell_file("$change.up", startup.text, end_mark({startup})) + "save\n", limit);
}

Result<std::vector<FrrSection>> parse_frr_sections(std::string_view answer) {
  return parse_shell_sections(answer, "conf");
}

}  // namespace tundish::switches

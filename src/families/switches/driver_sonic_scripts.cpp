#include "families/switches/driver_sonic_scripts.hpp"

#include <algorithm>

namespace tundish::switches {
namespace {

constexpr std::string_view player = R"sh(
play_patch() {
  begin "$number" 1
  out=$(config apply-patch -n "$file" 2>&1 </dev/null 9>&-)
  [ $? -eq 0 ] || [ $may_fail = yes ] || give_up "$number" "$out"
}
# FRR keeps a VRF as long as the kernel has its device, which goes a moment after CONFIG_DB's row.
play_vtysh() {
  begin "$number" 1
  left=$tries
  while :; do
    out=$(docker exec -i bgp sh -c 'cat >/tmp/tundish.conf && vtysh -f /tmp/tundish.conf' \
      <"$file" 2>&1 9>&-) && return
    case $out in *'nly inactive VRFs'*) ;; *) break ;; esac
    left=$((left - 1))
    [ $left -gt 0 ] || break
    sleep 0.1
  done
  [ $may_fail = yes ] || give_up "$number" "$out"
}
is_applied() {
  case $1 in
  present) [ "$(sonic-db-cli APPL_DB exists "$2" 9>&-)" != 0 ] ;;
  absent) [ "$(sonic-db-cli APPL_DB exists "$2" 9>&-)" = 0 ] ;;
  field) [ "$(sonic-db-cli APPL_DB hget "$2" "$3" 9>&-)" = "$4" ] ;;
  esac
}
# The managers take CONFIG_DB each at its own pace: without this the order of steps is lost, and a
# VRF's VNI may overtake its VLAN's (sonic-buildimage #11428).
play_applied() {
  begin "$number" 1
  [ $may_fail = yes ] && return
  left=$tries
  while read -r kind key field value; do
    until is_applied "$kind" "$key" "$field" "$value"; do
      left=$((left - 1))
      [ $left -gt 0 ] ||
        give_up "$number" "took the change but shows not in APPL_DB: $kind $key $field $value"
      sleep 0.1
    done
  done <"$file"
}
play_file() {
  case $file in
  *.vtysh) play_vtysh ;;
  *.applied) play_applied ;;
  *) play_patch ;;
  esac
}
play_end() { :; }
)sh";

constexpr std::string_view reader = R"sh(
show() {
  kind=$1
  shift
  out=$("$@" 2>$change.err </dev/null) || fail "$1: $(cat $change.err)"
  section "$kind" - "$out"
}
read_config() { show config sonic-cfggen -d --print-data; }
read_all() {
  [ -d $change ] && section interrupted - yes
  read_config
  show conf docker exec bgp vtysh -c 'show running-config'
  show appl sonic-db-dump -n APPL_DB -y -k '[IPV]*_TABLE:*'
  show asic sonic-db-dump -n ASIC_DB -y -k 'ASIC_STATE:SAI_OBJECT_TYPE_[BPTV]*'
  show counters sonic-db-dump -n COUNTERS_DB -y -k COUNTERS_PORT_NAME_MAP
  show state sonic-db-dump -n STATE_DB -y -k 'ACL_*'
  out=$(docker exec lldp lldpcli -f json0 show neighbors 2>/dev/null </dev/null) &&
    section lldp - "$out"
  return 0
}
)sh";

constexpr std::string_view saver = R"sh(
save() {
  out=$(docker exec bgp vtysh -c 'write memory' 2>&1 </dev/null) || fail "write memory: $out"
  case $out in *'onfiguration saved'*) ;; *) fail "write memory: $out" ;; esac
  out=$(config save -y 2>&1 </dev/null) || fail "config save: $out"
}
)sh";

/// Half of the time is for waiting; the rest is for the commands themselves and for going back.
std::string tools(Duration limit) {
  return "tries=" + std::to_string(std::clamp(limit.ms() / 200, 5L, 150L)) + "\n" +
         std::string(player);
}

}  // namespace

std::string sonic_config_program(Duration limit) {
  return shell_program(reader, "read_config\n", limit);
}

std::string sonic_read_program(Duration limit) {
  return shell_program(reader, "read_all\n", limit);
}

std::string sonic_run_program(const std::vector<SwitchStep>& steps, StepMode mode, Duration limit) {
  return shell_run_program(tools(limit), steps, {mode, {}}, limit);
}

std::string sonic_resume_program(Duration limit) {
  return shell_program(tools(limit), "play\n", limit);
}

std::string sonic_save_program(Duration limit) { return shell_program(saver, "save\n", limit); }

}  // namespace tundish::switches

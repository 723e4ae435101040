# Faults of an NVLink domain of four trays: an IMEX daemon that is down and a switch tray that fails
# are the domain's and cost no tray; a tray that leaks is told of its domain, goes off and to the
# vendor, and no node outside the domain takes its place; from the third tray on it is the rack.
# slow
source "$(dirname "$0")/lib/common.bash"
source "$(dirname "$0")/lib/blame.bash"

lab_up --nodes 6 --domain-trays 4
trays=(n01 n02 n03 n04)
imex_up() { # NODE: a process of the daemon's name, which is all that the check can see of it
  on "$1" sh -c 'mkdir -p /run/imex && cp -f /bin/sleep /run/imex/nvidia-imex &&
    setsid /run/imex/nvidia-imex 100000 </dev/null >/dev/null 2>&1 &' || fail "imex on $1"
}
imex_down() { on "$1" sh -c 'for p in /proc/[0-9]*; do
  [ "$(cat "$p/comm" 2>/dev/null)" = nvidia-imex ] && kill "${p#/proc/}"; done; :' || fail "$1"; }
for node in "${trays[@]}"; do imex_up "$node"; done
import_site
equal "trays by the inventory" "$(nodes_json |
  jq -r '[.[] | select(.spec.nvlink_domain == "nvl1").meta.name] | sort | join(" ")')" "${trays[*]}"
tenant acme alice 64
create train acme 3 0
read -r -a gang <<<"$(members train member)"
for node in "${gang[@]}"; do
  [[ " ${trays[*]} " == *" $node "* ]] || fail "$node of the gang lies outside the domain"
done
pace 10 "${trays[@]}"
await 60 "every node was judged in its boot" all_judged
verdict() { # NODE CHECK: its state, of the agent's or the BMC's
  nodes_json | jq -r --arg n "$1" --arg c "$2" '[.[] | select(.meta.name == $n).status |
    (.verdicts + .bmc_verdicts)[] | select(.check == $c).state][0] // "ok"'
}
equal "what is found while all is well" "$(ills)" ""

# The IMEX daemon of one tray is down: the domain's, and no tray's.
imex_down "${gang[1]}"
await 60 "an IMEX daemon that is down is the domain's" blames nvswitch domain
has "it names the domain" "$(tundish incident show "$(cat "$WORK/blamed")")" "NVLink domain nvl1"
no_claims || fail "it cost a tray: $(tundish claim list)"
imex_up "${gang[1]}"
over() { ! blames nvswitch domain; }
await 90 "it is over when the daemon runs again" over

# A switch tray fails: GPUs of two trays lose the fabric.
for node in "${gang[0]}" "${gang[2]}"; do
  cp "$ROOT/nodes/$node/hw/nvml.state" "$WORK/$node.state"
  inject --node "$node" --kind fabric_lost --gpu 0
done
await 60 "a switch tray that fails is the domain's" blames nvswitch domain
no_claims || fail "it cost a tray: $(tundish claim list)"
for node in "${gang[0]}" "${gang[2]}"; do
  cp "$WORK/$node.state" "$ROOT/nodes/$node/hw/nvml.state.new" &&
    mv "$ROOT/nodes/$node/hw/nvml.state.new" "$ROOT/nodes/$node/hw/nvml.state"
done
await 90 "it is over when the fabric is back" over

# What cannot be read is unknown, and nobody's fault.
lab_post /leak "{\"node\":\"${gang[0]}\",\"level\":\"unavailable\"}"
await 60 "a detector that says nothing is unknown" is verdict "${gang[0]}" leak = unknown
no_claims || fail "it cost a tray: $(tundish claim list)"
lab_post /leak "{\"node\":\"${gang[0]}\",\"level\":\"dry\"}"
await 60 "and dry again" is verdict "${gang[0]}" leak = ok

# A tray leaks.
wet=${gang[0]}
fourth=$(printf '%s\n' "${trays[@]}" | grep -vxF -f <(printf '%s\n' "${gang[@]}"))
inject --node "$wet" --kind leak
await 60 "the leak is told of the domain" blames cooling domain
domain_incident=$(cat "$WORK/blamed")
await 120 "the tray goes to the vendor" is incident_state "$wet" = rma
equal "fault" "$(incidents "$wet" | jq -r '.[-1].fault')" leak
equal "who said so" "$(incidents "$wet" | jq -r '.[-1].witnesses[0].provenance')" bmc
has "what was done" "$(acts "$wet")" "power_off"
phase_of() { lab_get /status | jq -r --arg n "$1" '.nodes[] | select(.name == $n).phase'; }
equal "its power" "$(phase_of "$wet")" off
in_gang() { [[ " $(members train member) " == *" $1 "* ]]; }
await 90 "the fourth tray of the domain takes its place" in_gang "$fourth"
equal "the domain's incident while it is wet" \
  "$(tundish incident show "$domain_incident" -o json | jq -r .state)" open

# Two more trays: nobody outside the domain stands in, and three trays out are the rack.
inject --node "${gang[1]}" --kind leak
inject --node "${gang[2]}" --kind leak
await 120 "the second tray goes to the vendor" is incident_state "${gang[1]}" = rma
await 120 "the third tray goes to the vendor" is incident_state "${gang[2]}" = rma
await 60 "three trays out are the rack" blames nvswitch rack
foreign() { in_gang n05 || in_gang n06; }
never 10 "a node outside the domain stands in" foreign
history_intact

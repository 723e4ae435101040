# One cable deliberately in the wrong port: the switches name it by what they see at its end, the
# nodes are no incident of theirs, and it goes away when the cables are put right.
source "$(dirname "$0")/lib/common.bash"

lab_up --nodes 4 --racks 2 --fabric frr
import_site
tenant acme alice 64
# A free node's port is shut, and nothing is seen through it.
create train acme 4 0 --no-login

all_wrong() { tundish switch list -o json | jq -r '.[].status.conditions[]? |
  select(.type == "miswired" and .state == "yes").reason'; }
cable_of() { # NODE: SWITCH/PORT, as declared
  nodes_json | jq -r --arg n "$1" '.[] | select(.meta.name == $n) |
    .spec.ports[] | select(.role == "access" and .switch_name != "") |
    .switch_name + "/" + .switch_port' | head -1
}
seen() { # every switch was read and sees something at the ends of its cables
  [[ $(tundish switch list -o json | jq '[.[] | select(.spec.management_url != "") |
    .status.conditions[]? | select(.type == "unreachable" and .state == "yes")] | length') == 0 ]]
}
await 30 "every switch is read" seen
sleep 5 # LLDP is sent every second
equal "miswired before" "$(all_wrong)" ""

first=$(cable_of n01) second=$(cable_of n02)
differs "the two cables" "$first" "$second"
exits 0 tundish lab cable swap --lab "$ROOT" "n01/eth0" "n02/eth0" >/dev/null
named() {
  local text
  text=$(all_wrong)
  [[ $text == *"${first/\//:} is cabled to n02"*"declared n01"* &&
    $text == *"${second/\//:} is cabled to n01"*"declared n02"* ]]
}
await 40 "both cables are named" named
say "$(all_wrong)"
has "switch list tells it" "$(tundish switch list)" "miswired"
has "switch show tells it" "$(tundish switch show "${first%/*}")" "is cabled to n02"
has "status tells it, as a switch" "$(tundish status -o json | jq -r '.notices[]')" \
  "switch ${first%/*}: miswired for"
equal "incidents of the two nodes" "$(incident_count n01) $(incident_count n02)" "0 0"

exits 0 tundish lab cable swap --lab "$ROOT" "n01/eth0" "n02/eth0" >/dev/null
right() { [[ -z $(all_wrong) ]]; }
await 40 "put right, it is no longer told" right

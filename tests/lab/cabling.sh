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
wrong_node() { has_condition "$1" miswired; }
has_condition() { # NODE TYPE
  nodes_json | jq -e --arg n "$1" --arg t "$2" 'any(.[]; .meta.name == $n and
    any(.status.conditions[]?; .type == $t))' >/dev/null
}
await 20 "both nodes have the condition" eval 'wrong_node n01 && wrong_node n02'
has "node explain tells where it is" "$(tundish node explain n01)" "eth0 is cabled to ${second/\//:}"
has "switch list tells it" "$(tundish switch list)" "miswired"
has "switch show tells it" "$(tundish switch show "${first%/*}")" "is cabled to n02"
has "status tells it, as a switch" "$(tundish status -o json | jq -r '.notices[]')" \
  "switch ${first%/*}: miswired for"
equal "incidents of the two nodes" "$(incident_count n01) $(incident_count n02)" "0 0"

exits 0 tundish lab cable swap --lab "$ROOT" "n01/eth0" "n02/eth0" >/dev/null
right() { [[ -z $(all_wrong) ]]; }
await 40 "put right, it is no longer told" right
cleared() { ! wrong_node n01 && ! wrong_node n02; }
await 20 "and no node is held for it" cleared

# Once more, and the cluster goes: nothing is seen through shut ports, and what was seen stands.
exits 0 tundish lab cable swap --lab "$ROOT" "n01/eth0" "n02/eth0" >/dev/null
await 40 "both nodes have the condition again" eval 'wrong_node n01 && wrong_node n02'
exits 0 tundish cluster delete train --yes --wait >/dev/null
ready() { for node in n01 n02 n03 n04; do [[ $(node_phase $node) == ready ]] || return 1; done; }
await 90 "all nodes are free" ready
has "placement leaves it alone" "$(tundish node explain n01)" "no: it miswired: eth0"
never 12 "a shut port counted as a right cable" right
has "switch show tells it still" "$(tundish switch show "${second%/*}")" "n01: eth0 is cabled to"
text=$(exits 3 tundish cluster create next --tenant acme --nodes 3 --no-login) || exit 1
say "an order that would need them: $text"
exits 0 tundish lab cable swap --lab "$ROOT" "n01/eth0" "n02/eth0" >/dev/null
for node in n01 n02; do
  exits 0 tundish node confirm $node --yes --reason "the cables are put right" >/dev/null
done
equal "nobody is held" "$(wrong_node n01 || wrong_node n02 || echo free)" free
create next acme 4 0 --no-login
sleep 3
equal "miswired after that" "$(all_wrong)" ""

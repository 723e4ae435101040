# Tenant networks on real FRR leaves: what is wanted is seen there, and isolation is proved on the
# wire between three clusters of two tenants, before and after nodes move and faults happen.
source "$(dirname "$0")/lib/common.bash"

lab_up --nodes 8 --racks 2 --login-nodes 2 --fabric frr
import_site
tenant acme alice 64
tenant bolt bob 64
create train acme 2 1
create tune bolt 2 0
create eval bolt 2 0 --no-login

isolated() { tundish network probe -o json >"$WORK/probe.json"; }
# The matrix must have every ordered pair of three clusters, own ones open and others closed.
matrix_holds() {
  jq -e '.isolated and (.pairs | length) == 9 and (.left_out | length) == 0 and
    all(.pairs[] | select(.same | not) | .ways[]; .cell == "closed") and
    all(.pairs[] | select(.same) | .ways[]; .cell == "open")' "$WORK/probe.json" >/dev/null
}
prove() { # WHEN
  isolated || fail "$1: isolation is not proved: $(jq -c . "$WORK/probe.json")"
  matrix_holds || fail "$1: the matrix is not whole: $(jq -c . "$WORK/probe.json")"
  say "$1: isolated on the wire"
}
in_step() { tundish network show "$1" >/dev/null; }
for name in train tune eval; do await 30 "network $name is in step" in_step "$name"; done
prove "three clusters of two tenants"

# The service node has a port in each of them, and passes nobody from one to another.
no_way_through train tune

# A fault moves a node: its spare comes in, the broken one goes out, and nobody sees more.
first=$(members train member | awk '{print $1}')
settled() { [[ $(incident_state "$1") == resolved && $(active_claims "$1") == 0 ]]; }
inject --node "$first" --xid 79 --gpu 0
await 90 "the fault is settled" settled "$first"
whole() { [[ $(cluster_phase train) == active && $(members train member | wc -w) == 2 ]]; }
await 60 "the cluster is whole" whole
await 30 "the network is in step" in_step train
prove "after a swap"

# Somebody moves a port by hand into another tenant's bridge: the wire says so, and so do we.
leaf() { timeout 20 tundish lab exec "$1" --lab "$ROOT" -- "${@:2}"; }
port=$(tundish network show tune -o json | jq -r '[.rows[] | select(.item | startswith("port "))][0] |
  .object + " " + (.item | ltrimstr("port "))')
read -r device swp <<<"$port"
vrf=$(tundish network show tune -o json | jq -r .vrf)
victim=$(tundish network show eval -o json | jq -r --arg d "$device" '.vrf + " br" +
  ([.rows[] | select(.object == $d and (.item | startswith("segment ")))][0].wanted |
   capture("vlan (?<v>[0-9]+)").v)')
read -r their_vrf bridge <<<"$victim"
[[ -n $bridge && $bridge != br ]] || fail "no segment of eval on $device: $victim"
leaf "$device" ip -n "$vrf" link set "$swp" netns "$their_vrf" || fail "moving the port by hand"
leaf "$device" ip -n "$their_vrf" link set "$swp" master "$bridge" up || fail "enslaving the port"
code=0 && tundish network probe -o json >"$WORK/leak.json" || code=$?
equal "exit of a probe that sees a leak" "$code" 3
jq -e 'any(.pairs[] | select(.same | not) | .ways[]; .cell == "open")' "$WORK/leak.json" \
  >/dev/null || fail "the leak is not in the matrix: $(jq -c . "$WORK/leak.json")"
say "a leak by hand is seen on the wire"
drifted() { tundish network list -o json | jq -e 'any(.[].status.sync[]?; .state == "drifted")'; }
await 40 "the drift is named" drifted
tundish switch list | grep -q "drift: .*$swp" || fail "switch list: $(tundish switch list)"
code=0 && tundish network show tune >"$WORK/show.txt" || code=$?
equal "exit of network show on a drifted network" "$code" 4
leaf "$device" ip -n "$their_vrf" link set "$swp" netns "$vrf" || fail "moving it back"
own=$(tundish network show tune -o json | jq -r --arg d "$device" \
  '[.rows[] | select(.object == $d and (.item | startswith("segment ")))][0].wanted |
   capture("vlan (?<v>[0-9]+)").v')
leaf "$device" ip -n "$vrf" link set "$swp" master "br$own" up || fail "enslaving it again"
for name in train tune eval; do await 40 "network $name is in step" in_step "$name"; done
prove "after the hand took it back"

# Deleting a cluster leaves nothing of it on any leaf, and its numbers rest.
vrf=$(tundish network show eval -o json | jq -r .vrf)
exits 0 tundish cluster delete eval --yes --wait >/dev/null
gone() { ! leaf leaf1 ip netns list | grep -q "$vrf" && ! leaf leaf2 ip netns list | grep -q "$vrf"; }
await 60 "no leaf has $vrf" gone
for switch in leaf1 leaf2; do
  if leaf "$switch" vtysh -c "show running-config" | grep -q "$vrf"; then
    fail "$switch still routes $vrf"
  fi
done
say "nothing of eval is left"

# A dead leaf is a condition of the switch and no incident of its nodes.
count=$(tundish incident list -o json | jq length)
exits 0 tundish lab switch off leaf2 --lab "$ROOT" >/dev/null
unreachable() { tundish switch list | grep "^leaf2" | grep -q unreachable; }
await 90 "leaf2 is unreachable" unreachable
equal "incidents" "$(tundish incident list -o json | jq length)" "$count"
exits 0 tundish lab switch on leaf2 --lab "$ROOT" >/dev/null
reachable() { ! unreachable; }
await 90 "leaf2 is back" reachable
for name in train tune; do await 60 "network $name is in step" in_step "$name"; done
say "a dead leaf blamed no node"

# Tenant networks on real FRR leaves: what is wanted is seen there, and isolation is proved on the
# wire between three tenants, two of which have the same addresses, before, while and after nodes
# move and faults happen.
source "$(dirname "$0")/lib/common.bash"

lab_up --nodes 8 --racks 2 --login-nodes 2 --fabric frr
import_site
tenant acme alice 64
tenant bolt bob 64
tenant core carol 64

# A prefix or a rule that cannot be: refused with the object and what would work, nothing is touched.
refused() { # WHAT PART FLAGS...
  local text
  text=$(exits 3 tundish cluster create nix --tenant acme --nodes 1 --no-login "${@:3}") || exit 1
  has "$1 is refused" "$text" "$2"
}
refused "an underlay's prefix" "overlaps underlay 10.254.0.0/16" --prefix 10.254.3.0/24
refused "a management prefix" "overlaps management 10.88.0.0/16" --prefix 10.88.0.0/24
refused "a prefix with bits behind it" "write 10.70.0.0/24" --prefix 10.70.0.1/24
refused "the default route" "default route" --prefix 0.0.0.0/0
refused "multicast" "multicast" --prefix 230.0.0.0/24
refused "a small prefix" "length of 8 to 27" --prefix 10.70.0.0/28
refused "a rule without a port number" "is no port" --firewall "permit tcp/x@192.0.2.0/24"
refused "a rule that would open management" "management network 10.88.0.0/16" \
  --firewall "permit tcp/22@10.88.2.0/24"
equal "clusters after that" "$(tundish cluster list -o json | jq length)" 0
equal "networks after that" "$(tundish network list -o json | jq length)" 0

same=10.70.0.0/24
create train acme 2 1 --prefix $same --firewall "permit tcp/443@203.0.113.0/24" \
  --firewall "permit tcp/9001@10.200.0.10/32"
create tune bolt 2 0 --prefix $same --allow-in tcp/22@10.89.7.0/24
create eval core 2 0 --no-login
has "cluster show tells the prefix" "$(tundish cluster show train)" "$same"
has "cluster show tells the firewall" "$(tundish cluster show train)" "permit tcp/443@203.0.113.0/24"
equal "both have the same addresses" "$(controller_of train)" "$(controller_of tune)"

isolated() { tundish network probe -o json >"$WORK/probe.json"; }
# The matrix must have every ordered pair of three clusters and of each with the free nodes, own ones
# open and others closed; and of every leaf itself the gateway alone answers.
matrix_holds() {
  jq -e '.isolated and (.pairs | length) == 15 and (.left_out | length) == 0 and
    ([.pairs[] | select(.from == "free nodes" or .to == "free nodes")] | length) == 6 and
    ([.senders[] | select(.cluster == "free nodes")] | length) > 0 and
    (.leaf | length) >= 3 and all(.leaf[]; .cell == "closed" and .tried > 10) and
    all(.pairs[] | select(.same | not) | .ways[]; .cell == "closed") and
    all(.pairs[] | select(.same) | .ways[]; .cell == "open") and
    (.out_of_band | length) > 6 and all(.out_of_band[]; .cell == "closed" and .tried > 15)' \
    "$WORK/probe.json" >/dev/null
}
# While something moves, not every cell can be proved; but none may ever be open.
prove_during() { # WHAT COMMAND...: probes until COMMAND succeeds, at most two minutes
  local what=$1 looks=0 code end=$((SECONDS + 120))
  shift
  until "$@"; do
    ((SECONDS < end)) || fail "$what: not within two minutes"
    code=0 && tundish network probe -o json >"$WORK/during.json" || code=$?
    [[ $code == 0 || $code == 4 ]] || fail "$what: exit $code: $(jq -c . "$WORK/during.json")"
    jq -e 'all(.pairs[] | select(.same | not) | .ways[]; .cell != "open") and
      any(.pairs[] | select(.same | not) | .ways[]; .cell == "closed") and
      all(.out_of_band[]; .cell != "open")' "$WORK/during.json" >/dev/null ||
      fail "$what: $(jq -c . "$WORK/during.json")"
    looks=$((looks + 1))
  done
  ((looks > 0)) || fail "$what: over before a probe could look"
  say "$what: $looks probes, and no way was open"
}
prove() { # WHEN
  isolated || fail "$1: isolation is not proved: $(jq -c . "$WORK/probe.json")"
  matrix_holds || fail "$1: the matrix is not whole: $(jq -c . "$WORK/probe.json")"
  say "$1: isolated on the wire"
}
in_step() { tundish network show "$1" >/dev/null; }
for name in train tune eval; do await 30 "network $name is in step" in_step "$name"; done
prove "three tenants, two of them with the same addresses"

# What nodes send out of their network is filtered on the leaf: only what a rule permits gets as far
# as the storage's port. It is seen there, since nothing answers it.
leaf() { timeout 20 tundish lab exec "$1" --lab "$ROOT" -- "${@:2}"; }
address_of() { # CLUSTER NODE
  tundish allocation show "$1" -o json | jq -r --arg n "$(node_id "$2")" \
    '.status.nodes[] | select(.node == $n).address'
}
seen_at_storage() { # CLUSTER: ports of 9001 and 9002 that a member's packets reach the storage on
  local node=$(members "$1" member | awk '{print $1}')
  leaf stor1 python3 -c '
import socket, sys, time
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
wire.settimeout(0.2)
seen, end = set(), time.time() + 6
while time.time() < end:
    try:
        frame = wire.recv(2048)
    except OSError:
        continue
    port = int.from_bytes(frame[36:38], "big")
    if frame[23] == 6 and socket.inet_ntoa(frame[26:30]) == sys.argv[1] and port in (9001, 9002):
        seen.add(port)
print(*sorted(seen))' "$(address_of "$1" "$node")" >"$WORK/at-storage" &
  sleep 1.5
  on "$node" python3 -c '
import socket, sys
for port in (9001, 9002):
    call = socket.socket()
    call.settimeout(1)
    call.bind((sys.argv[1], 0))
    try:
        call.connect(("10.200.0.10", port))
    except OSError:
        pass' "$(address_of "$1" "$node")" || fail "$node could not send"
  wait $!
  cat "$WORK/at-storage"
}
equal "ports that train's firewall lets through" "$(seen_at_storage train)" 9001
equal "ports that are let through without a rule" "$(seen_at_storage tune)" ""

# The service node has a port in each of them, and passes nobody from one to another. Where the
# addresses are the same, the other's controller is not there at all.
no_way_through train eval
member=$(members train member | awk '{print $1}')
own=$(controller_of train)
reaches "$member" "$own" "$(listens train)" || fail "$member does not reach its controller"
for theirs in "$(listens tune)" "$(listens eval)"; do
  if reaches "$member" "$own" "$theirs"; then fail "$member reaches port $theirs of another tenant"; fi
done

# People come in by their cluster's gateway, each at his own, from where the order allows it.
gateway_of() { tundish cluster show "$1" -o json | jq -r .status.access_address; }
people=$(lab_get /status | jq .supervisor_pid) # whose network they are in
nsenter -t "$people" -n ip addr add 10.89.7.1/16 dev access || fail "a second place for people"
answer() { # FROM ADDRESS PORT: the first bytes that a person's call gets
  nsenter -t "$people" -n timeout 20 python3 -c '
import socket, sys
call = socket.socket()
call.settimeout(4)
call.bind((sys.argv[1], 0))
try:
    call.connect((sys.argv[2], int(sys.argv[3])))
    print(call.recv(4).decode() or "nothing")
except OSError:
    print("none")' "$@"
}
equal "alice logs in by the gateway" "$(login train alice hostname)" "$(members train login)"
equal "ssh to train from anywhere" "$(answer 10.89.0.1 "$(gateway_of train)" 22)" SSH-
equal "ssh to tune from where bolt allows it" "$(answer 10.89.7.1 "$(gateway_of tune)" 22)" SSH-
equal "ssh to tune from elsewhere" "$(answer 10.89.0.1 "$(gateway_of tune)" 22)" none
for port in "$(listens train)" 6818 80; do
  equal "port $port of train's gateway" "$(answer 10.89.0.1 "$(gateway_of train)" "$port")" none
done
# Rules change while the cluster runs; a list that is not given stays.
tundish cluster firewall train --firewall "permit tcp/9002@10.200.0.10/32" >/dev/null || fail "new rules"
tundish cluster firewall tune --allow-in tcp/22@10.89.0.1/32 >/dev/null || fail "new access"
turned() { [[ $(answer 10.89.0.1 "$(gateway_of tune)" 22) == SSH- ]]; }
await 30 "tune's gateway lets in whom the new rule names" turned
equal "ssh to tune from where bolt allowed it" "$(answer 10.89.7.1 "$(gateway_of tune)" 22)" none
await 30 "the new rules are on the leaves" in_step train
equal "ports that train's new firewall lets through" "$(seen_at_storage train)" 9002
exits 3 tundish cluster firewall train --firewall "permit tcp/22@10.88.2.0/24" >/dev/null || exit 1
equal "alice still logs in" "$(login train alice hostname)" "$(members train login)"
equal "eval, which has no login node, has no gateway" "$(gateway_of eval)" ""
if reaches "$member" "$(gateway_of tune)" 22; then fail "$member reaches another's gateway"; fi
restart_agent() { lab_post /agent '{"node":"svc01","action":"kill"}'; }
restart_agent
for name in train tune eval; do
  await 30 "Slurm of $name answers after its agent died" slurm $name scontrol ping
done

# A fault moves a node: its spare comes in, the broken one goes out, and nobody sees more.
first=$(members train member | awk '{print $1}')
settled() { [[ $(incident_state "$1") == resolved && $(active_claims "$1") == 0 ]]; }
inject --node "$first" --xid 79 --gpu 0
prove_during "a swap" settled "$first"
whole() { [[ $(cluster_phase train) == active && $(members train member | wc -w) == 2 ]]; }
await 60 "the cluster is whole" whole
await 30 "the network is in step" in_step train
prove "after a swap"

# Somebody moves a port by hand into another tenant's bridge: the wire says so, and so do we.
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
equal "the verdict" "$(jq -r .verdict "$WORK/leak.json")" leak
code=0 && tundish network probe >"$WORK/leak.txt" || code=$?
equal "exit of a probe that shows a leak" "$code" 3
has "the last line says so" "$(tail -n 1 "$WORK/leak.txt")" "open between tenants: "
[[ $(grep -c LEAK "$WORK/leak.txt") -ge 2 ]] || fail "no row is a leak: $(cat "$WORK/leak.txt")"
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

# A place that a tunnel sends to, written by hand into the kernel of a leaf: no configuration has it.
vni=$(tundish network show tune -o json | jq -r .vni)
vrf=$(tundish network show tune -o json | jq -r .vrf)
leaf "$device" bridge -n "$vrf" fdb append 00:00:00:00:00:00 dev "vx$vni" dst 10.255.0.99 ||
  fail "a flood entry by hand"
flooded() { tundish switch list | grep -q "VNI $vni: sends to 10.255.0.99, where bolt/tune is not"; }
await 40 "a flood entry by hand is named" flooded
has "network show tells it" "$(tundish network show tune)" "sends to 10.255.0.99"
equal "train beside it" "$(tundish network list -o json |
  jq -r '.[] | select(.meta.name == "train").status.sync[] | select(.state == "drifted").object')" ""
leaf "$device" bridge -n "$vrf" fdb del 00:00:00:00:00:00 dev "vx$vni" dst 10.255.0.99
await 40 "taken out, tune is in step" in_step tune

# A free node's port in a tenant's bridge is a leak, whoever put it there.
free=$(nodes_json | jq -r '[.[] | select(.spec.role == "gpu" and .status.phase == "ready" and
  (.status.allocation // "") == "")][0] | .meta.name + " " + (.spec.ports[] |
  select(.role == "access" and .switch_name != "") | .switch_name + " " + .switch_port)' | head -1)
read -r outsider device swp <<<"$free"
[[ -n $swp ]] || fail "no free node: $free"
vrf=$(tundish network show eval -o json | jq -r .vrf)
own=$(tundish network show eval -o json | jq -r --arg d "$device" \
  '[.rows[] | select(.object == $d and (.item | startswith("segment ")))][0].wanted |
   capture("vlan (?<v>[0-9]+)").v')
leaf "$device" ip link set "$swp" netns "$vrf" || fail "moving a free node's port"
leaf "$device" ip -n "$vrf" link set "$swp" master "br$own" up || fail "enslaving it"
sleep 2
code=0 && tundish network probe -o json >"$WORK/leak.json" || code=$?
equal "exit of a probe that sees a free node in a network" "$code" 3
jq -e --arg n "$outsider" 'any(.open_ways[]; (.from == "free nodes" or .to == "free nodes") and
  (.detail | contains($n)))' "$WORK/leak.json" >/dev/null ||
  fail "the free node is not named: $(jq -c .open_ways "$WORK/leak.json")"
leaf "$device" ip -n "$vrf" link set "$swp" down nomaster
leaf "$device" ip -n "$vrf" link set "$swp" netns 1 || fail "moving it back"
for name in train tune eval; do await 40 "network $name is in step" in_step "$name"; done
prove "after the free node was taken out"

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

# The next cluster takes over the nodes of one that goes, with the addresses of a third one's.
create eval core 2 0 --no-login
nodes=$(members tune member)
exits 0 tundish cluster delete tune --yes >/dev/null
no_tune() { ! tundish cluster show tune >/dev/null 2>&1; }
prove_during "a delete" no_tune
ready() { for node in $nodes; do [[ $(node_phase "$node") == ready ]] || return 1; done; }
await 60 "the nodes of tune are ready" ready
create late core 3 0 --no-login --prefix $same
taken=$(members late member)
for node in $nodes; do [[ " $taken " == *" $node "* ]] || fail "late has no $node: $taken"; done
for name in train late eval; do await 30 "network $name is in step" in_step "$name"; done
prove "after another tenant took over nodes and addresses"

# A dead leaf is a condition of the switch and no incident of its nodes.
count=$(tundish incident list -o json | jq length)
exits 0 tundish lab switch off leaf2 --lab "$ROOT" >/dev/null
unreachable() { tundish switch list | grep "^leaf2" | grep -q unreachable; }
await 90 "leaf2 is unreachable" unreachable
equal "incidents" "$(tundish incident list -o json | jq length)" "$count"
exits 0 tundish lab switch on leaf2 --lab "$ROOT" >/dev/null
reachable() { ! unreachable; }
await 90 "leaf2 is back" reachable
for name in train late; do await 60 "network $name is in step" in_step "$name"; done
say "a dead leaf blamed no node"

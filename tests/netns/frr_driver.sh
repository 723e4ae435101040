#!/bin/bash
# Goal: two tenants with the same addresses on two real FRR leaves, each written by the shipped
# driver and by nothing else. Method: a lab of two leaves and a spine; tests/netns/frr_driver.cpp
# asks ConfiguredSwitch and the frr_netns item over ssh; programs in the nodes tell who answers.
# Needs root. Usage: frr_driver.sh DRIVER   (tundish beside it or in PATH)
source "$(dirname "$0")/../lab/lib/common.bash"
DRIVER=$(readlink -f "${1:?path of frr_driver}")
PATH=$(dirname "$DRIVER"):$PATH

KEEP=$WORK/keep
mkdir -p "$KEEP" "$WORK/s"
GROUP=10.1.0  # of both tenants
export KEY=$ROOT/secrets/switch_key KNOWN_HOSTS=$ROOT/secrets/switch_known_hosts
export SOCKETS=$WORK/s PORTS="swp1 swp2"

node() { local name=$1; shift; tundish lab exec --lab "$ROOT" "$name" -- "$@"; }
now_ms() { echo $(($(date +%s%N) / 1000000)); }
root_net() { nsenter -t "$(cat "$ROOT/run/supervisor.pid")" -n -- "$@"; }
drive() { root_net "$DRIVER" "$@"; }
on() {
  root_net ssh -i "$KEY" -o BatchMode=yes -o ConnectTimeout=5 -o UserKnownHostsFile="$KNOWN_HOSTS" \
    -o ControlMaster=auto -o ControlPersist=60 -o ControlPath="$KEEP/%h" \
    "root@10.88.2.$1" "$(printf '%q ' "${@:2}")"
}
attach() { # LEAF PORT=TENANT...
  local out
  out=$(drive attach "leaf$1" "${@:2}") || fail "leaf$1: $out"
  say "leaf$1: $(echo "$out" | xargs -d '\n')"
}
place() { drive read "leaf$1" | awk -v p="$2" '$1 == "port" && $2 == p { print $3, $4 }'; }
# What of the running configuration is not the tenants': must never change.
foreign() {
  on "$1" vtysh -c 'show running-config' | awk '
    /^(vrf|router bgp .* vrf) Vrf|^router bgp [0-9]+ vrf Vrf/ { ours = 1 }
    /^(route-map|ip prefix-list) T-/ { ours = 1 }
    /^  vni 10/ { vni = 1 }
    !ours && !vni { print }
    /^  exit-vni/ { vni = 0 }
    /^(exit|exit-vrf|!)$/ { ours = 0 }' | grep -v '^!$'
}

ECHO='import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("", 7777))
while True:
  s.sendto(socket.gethostname().encode(), s.recvfrom(64)[1])'
ASK='import select, socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.setblocking(False)
end = time.time() + float(sys.argv[2])
while time.time() < end:
  try: s.sendto(b"?", (sys.argv[1], 7777))
  except OSError: pass
  if select.select([s], [], [], 0.005)[0]:
    try: print(time.time_ns() // 1000000, s.recv(64).decode(), flush=True)
    except OSError: pass'
answers() { node "$1" python3 -c "$ASK" "$2" "${3:-1}" 2>/dev/null; }
who() { answers "$@" | cut -d' ' -f2 | sort -u | xargs; }
only() { [[ $(who "$1" "$2") == "$3" ]]; }

tundish lab up --name "$LAB" --root "$ROOT" --fabric frr --nodes 4 --racks 2 --spines 1 \
  --service-nodes 0 --login-nodes 0 >"$WORK/up.log" 2>&1 || fail "lab up: $(cat "$WORK/up.log")"
await 20 "leaf1 has its spine" eval 'on 1 vtysh -c "show bgp l2vpn evpn summary json" |
  jq -e "[.peers[].state] == [\"Established\"]"'
# Somebody else's configuration, some of it next to ours.
for at in 1 2; do
  on $at vtysh -c 'configure terminal' -c 'ip prefix-list OPERATOR seq 5 permit 192.0.2.0/24' \
    -c 'route-map OPERATOR permit 10' -c 'match ip address prefix-list OPERATOR' -c exit \
    -c 'vrf operator' -c 'ip route 198.51.100.0/24 Null0' -c exit-vrf \
    -c "router bgp 6500$at" -c 'address-family l2vpn evpn' -c 'vni 900' -c 'rd 192.0.2.1:9' ||
    fail "the operator's lines"
  foreign $at >"$KEEP/foreign$at"
done
grep -q 'vni 900' "$KEEP/foreign1" || fail "the operator's VNI is not in the comparison"
equal "an untouched port" "$(place 1 swp1)" "- down"
equal "its cable" "$(drive read leaf1 | grep '^neighbour swp1')" "" # down: nobody is heard

started=$(now_ms)
attach 1 swp1=10 swp2=20 &
attach 2 swp1=10 swp2=20 || exit 1
wait $! || exit 1
say "four ports of two tenants on two leaves in $(($(now_ms) - started)) ms"
for name in n01 n02 n03 n04; do
  host=1; [[ $name == n0[34] ]] && host=2
  node "$name" ip addr add $GROUP.$host/24 dev eth0
  node "$name" python3 -c "$ECHO" &
  CHILDREN+=($!)
done
await 15 "A: n01 reaches n03" only n01 $GROUP.2 n03
await 15 "B: n02 reaches n04" only n02 $GROUP.2 n04
equal "A back" "$(who n03 $GROUP.1)" n01
equal "B back" "$(who n04 $GROUP.1)" n02
l3_up() { on 1 vtysh -c "show evpn vni $1 json" | jq -e '.state == "Up"'; }
await 5 "the L3VNIs are up" eval 'l3_up 50010 && l3_up 50020'
equal "as it shows itself" "$(place 1 swp1)" "seg10010 up"
await 8 "whose cable it is" eval 'drive read leaf1 | grep -q "^neighbour swp1 n01/"'
equal "what is not understood" "$(drive read leaf1 | grep '^unclear')" ""
equal "a port that is where it should be" "$(drive attach leaf1 swp1=10 | cut -d' ' -f1,2)" \
  "swp1=10 done"

# --- revocation ----------------------------------------------------------------------------------
drive read leaf1 >/dev/null
answers n01 $GROUP.2 5 >"$KEEP/answers" &
asker=$!
sleep 1
start=$(now_ms)
attach 1 swp1=-
wait $asker
last=$(tail -1 "$KEEP/answers" | cut -d' ' -f1)
[[ -n $last ]] || fail "nobody answered before"
say "quarantine: $((last > start ? last - start : 0)) ms from call to last answer"
((last - start < 1000 * PATIENCE)) || fail "quarantine took $((last - start)) ms"
equal "in quarantine" "$(place 1 swp1)" "- down"
equal "B is not touched" "$(who n02 $GROUP.2)" n04
equal "A's network left leaf1 with its last port" "$(on 1 ip netns list | cut -d' ' -f1)" Vrf00020
equal "and its routing" "$(on 1 vtysh -c 'show running-config' | grep -c Vrf00010)" 0
foreign 1 | cmp -s - "$KEEP/foreign1" ||
  { foreign 1 | diff "$KEEP/foreign1" -; fail "foreign lines"; }

# --- the same port for another tenant, which has the same addresses ------------------------------
node n01 ip addr flush dev eth0
node n01 ip addr add $GROUP.3/24 dev eth0
attach 1 swp1=20
await 8 "n01 in B reaches n04" only n01 $GROUP.2 n04
attach 1 swp1=-
attach 1 swp1=10
node n01 ip addr flush dev eth0
node n01 ip addr add $GROUP.1/24 dev eth0
await 8 "n01 back in A reaches n03" only n01 $GROUP.2 n03

# --- our process dies at any moment: the switch finishes, the next attach converges --------------
for after in 150 400 700 1000 1400 1900; do
  attach 1 swp1=-
  KILL_AFTER=$after drive attach leaf1 swp1=10 >/dev/null 2>&1
  attach 1 swp1=10
  equal "after a kill at $after ms" "$(drive read leaf1 | grep -E '^(port swp1|unclear)')" \
    "port swp1 seg10010 up"
done
# The program on the switch dies too, between two commands: the next attach goes on from there.
cut=0
for after in 0.3 0.6 0.9 1.2; do
  attach 1 swp1=-
  drive attach leaf1 swp1=10 >/dev/null 2>&1 &
  child=$!
  sleep $after
  on 1 sh -c 'pid=$(fuser /run/tundish/lock 2>/dev/null || lsof -t /run/tundish/lock 2>/dev/null)
    for p in $pid; do kill -9 $p; done; [ -d /run/tundish/change ]' && cut=$((cut + 1))
  wait $child
  attach 1 swp1=10
  equal "after a kill on the switch" "$(drive read leaf1 | grep -E '^(port swp1|unclear)')" \
    "port swp1 seg10010 up"
done
say "$cut changes were cut off on the switch"
await 8 "n01 reaches n03 after all that" only n01 $GROUP.2 n03

# --- somebody changes the switch by hand ---------------------------------------------------------
on 1 ip -n Vrf00010 link set swp1 nomaster
has "a port out of its bridge is seen" "$(drive read leaf1)" "unclear kernel: link swp1"
out=$(drive attach leaf1 swp1=10) && fail "a change of a switch that is not understood: $out"
has "and nothing is done" "$out" "not understood"
on 1 ip -n Vrf00010 link set swp1 master br110
on 1 vtysh -c 'configure terminal' -c 'router bgp 65001 vrf Vrf00010' \
  -c 'address-family l2vpn evpn' -c 'route-target import 65000:50020'
has "a route target by hand is seen" "$(drive read leaf1)" '"65000:50010","65000:50020"'
attach 1 swp1=10
[[ $(drive read leaf1) != *'"65000:50010","65000:50020"'* ]] || fail "the route target stays"
on 1 nft flush chain ip tundish T-20-IN 2>/dev/null
on 1 ip netns exec Vrf00020 nft flush chain ip tundish T-20-IN
has "a flushed list is read as one that lets all through" "$(drive read leaf1 | tr -d ' \n')" \
  '"T-20-IN","rules":[{"sequence":9999,"action":"permit","protocol":"ip","source":"","destination":"","port_from":0'
attach 1 swp1=10
say "and keeps no order of the other tenant back"
on 1 ip netns exec Vrf00020 nft delete table ip tundish
attach 1 swp2=20
equal "B after that" "$(drive read leaf1 | grep -E '^(port swp2|unclear)')" "port swp2 seg10020 up"

# --- FRR forgets a tenant while the kernel keeps it: the next order tells it again ------------------
forget() { # WHAT...: lines of configuration
  local words=(-c 'configure terminal') line
  for line in "$@"; do words+=(-c "$line"); done
  on 1 vtysh "${words[@]}" || fail "vtysh: $*"
}
forget_a() { forget 'vrf Vrf00010' 'no vni 50010' 'exit-vrf' 'no router bgp 65001 vrf Vrf00010'; }
forget_a
shown=$(drive read leaf1)
equal "what is not understood of a VRF without BGP" "$(grep '^unclear' <<<"$shown")" ""
attach 1 swp1=10
equal "A after that" "$(drive read leaf1 | grep -E '^(port swp1|unclear)')" "port swp1 seg10010 up"
forget_a
forget 'vrf Vrf00020' 'no vni 50020' 'exit-vrf' 'no router bgp 65001 vrf Vrf00020' \
  'no route-map T-CONNECTED' 'no ip prefix-list T-CONNECTED' \
  'router bgp 65001' 'address-family l2vpn evpn' 'no vni 10010' 'no vni 10020'
equal "what is not understood of two tenants without FRR" "$(drive read leaf1 | grep '^unclear')" ""
attach 1 swp1=10
attach 1 swp2=20
for swp in swp1 swp2; do
  equal "$swp after that" "$(drive read leaf1 | grep -E "^(port $swp|unclear)")" \
    "port $swp seg100${swp/swp/}0 up"
done
await 15 "the L3VNIs are up again" eval 'l3_up 50010 && l3_up 50020'
await 15 "n01 reaches n03 again" only n01 $GROUP.2 n03
await 15 "n02 reaches n04 again" only n02 $GROUP.2 n04
# One that goes while FRR has forgotten it goes all the same.
forget_a
attach 1 swp1=-
equal "A's network left leaf1" "$(on 1 ip netns list | cut -d' ' -f1)" Vrf00020
attach 1 swp1=10
await 15 "n01 reaches n03 after that" only n01 $GROUP.2 n03
# A place that frames are sent to and that no configuration holds.
on 1 bridge -n Vrf00010 fdb append 00:00:00:00:00:00 dev vx10010 dst 10.255.0.99
has "a flood entry by hand is seen" "$(drive read leaf1)" "peer 10010 10.255.0.99"
on 1 bridge -n Vrf00010 fdb del 00:00:00:00:00:00 dev vx10010 dst 10.255.0.99

# --- a leaf restarts: what was saved comes back, by itself ---------------------------------------
before=$(drive read leaf1 | grep '^own')
tundish lab switch off --lab "$ROOT" leaf1
sleep 2
tundish lab switch on --lab "$ROOT" leaf1
rm -f "$KEEP"/10.* "$WORK"/s/*
is_back() { [[ $(drive read leaf1 | grep '^own') == "$before" ]]; }
await 25 "leaf1 is back with its tenants" is_back
await 15 "its L3VNIs are up" eval 'l3_up 50010 && l3_up 50020'
await 15 "n01 reaches n03 through it" only n01 $GROUP.2 n03
await 15 "n02 reaches n04 through it" only n02 $GROUP.2 n04
attach 1 swp1=- swp2=-
attach 2 swp1=- swp2=-
for at in 1 2; do
  foreign $at | cmp -s - "$KEEP/foreign$at" ||
    { foreign $at | diff "$KEEP/foreign$at" -; fail "foreign lines of leaf$at"; }
  equal "no namespace is left on leaf$at" "$(on $at ip netns list | wc -l)" 0
done

#!/bin/bash
# Goal: the lab's switches are real routers, and isolation on them is a fact of the wire. Method: a
# lab of two FRR leaves and a spine; two tenants with the same addresses, written by hand with
# vtysh and ip over ssh, as a driver would; programs in the nodes tell who answers. Needs root.
# Usage: frr_fabric.sh   (tundish in PATH)
source "$(dirname "$0")/../lab/lib/common.bash"

KEEP=$WORK/keep
mkdir -p "$KEEP"
NODES=(n01 n02 n03 n04)  # n01, n02 on leaf1; n03, n04 on leaf2; odd ones are tenant A's
GROUP=10.1.0             # of both tenants

node() { local name=$1; shift; tundish lab exec --lab "$ROOT" "$name" -- "$@"; }
lab_post() { curl -sS -f --unix-socket "$ROOT/run/lab.sock" "http://lab$1" -d "$2" >/dev/null; }
now_ms() { echo $(($(date +%s%N) / 1000000)); }
root_net() { nsenter -t "$(cat "$ROOT/run/supervisor.pid")" -n -- "$@"; }
# on LEAF TOOL: runs standard input on the switch, as its driver will.
on() {
  root_net ssh -i "$ROOT/secrets/switch_key" -o BatchMode=yes -o ConnectTimeout=5 \
    -o UserKnownHostsFile="$ROOT/secrets/switch_known_hosts" -o StrictHostKeyChecking=yes \
    -o ControlMaster=auto -o ControlPersist=60 -o ControlPath="$KEEP/%h" \
    "root@10.88.2.$1" "$(printf '%q ' "${@:2}")"
}
kernel() { on "$1" sh -eu; }
routing() { on "$1" sh -c 'cat >/tmp/lines && vtysh -f /tmp/lines'; }

# --- what a leaf carries for a tenant ------------------------------------------------------------
bgp_lines() {  # leaf vrf_id vlan l2vni [number of the target]
  local vrf target=${5:-$4} l3=$((50000 + $2))
  vrf=$(printf 'Vrf%05d' "$2")
  cat <<LINES
router bgp 6500$1
 address-family l2vpn evpn
  vni $4
   rd 10.255.0.$1:$3
   route-target import 65000:$target
   route-target export 65000:$target
  exit-vni
 exit-address-family
exit
router bgp 6500$1 vrf $vrf
 bgp router-id 10.255.0.$1
 address-family ipv4 unicast
  redistribute connected
 exit-address-family
 address-family l2vpn evpn
  advertise ipv4 unicast
  rd 10.255.0.$1:$2
  route-target import 65000:$l3
  route-target export 65000:$l3
 exit-address-family
exit
LINES
}
tunnel_lines() {  # leaf vrf vni bridge
  cat <<LINES
ip link add vx$3 type vxlan id $3 local 10.255.0.$1 dstport 4789 nolearning
ip link set vx$3 addrgenmode none netns $2
ip -n $2 link set vx$3 master $4
bridge -n $2 link set dev vx$3 neigh_suppress on learning off
ip -n $2 link set vx$3 mtu 9000 up
LINES
}
# The bridge of an L3VNI keeps a MAC of its own: routes with the receiver's router MAC are dropped.
bridge_lines() {  # vrf bridge [address MAC]
  echo "ip -n $1 link add $2 type bridge stp_state 0 forward_delay 0"
  echo "ip -n $1 link set $2 addrgenmode none ${*:3} mtu 9000 up"
}
tenant_up() {  # as bgp_lines
  local vrf l3=$((50000 + $2))
  vrf=$(printf 'Vrf%05d' "$2")
  bgp_lines "$@" | routing "$1" || fail "routing of leaf$1"
  { echo "ip netns add $vrf; ip -n $vrf link set lo up"
    echo "ip netns exec $vrf sysctl -qw net.ipv4.ip_forward=1"
    bridge_lines "$vrf" "br$l3"; tunnel_lines "$1" "$vrf" "$l3" "br$l3"
    bridge_lines "$vrf" "br$3" address 00:00:5e:00:01:10; tunnel_lines "$1" "$vrf" "$4" "br$3"
    echo "ip -n $vrf addr add $GROUP.254/24 dev br$3"; } | kernel "$1" || fail "kernel of leaf$1"
  printf 'vrf %s\n vni %s\nexit-vrf\n' "$vrf" "$l3" | routing "$1" || fail "vni on leaf$1"
  # FRR 8.4 does not join an L3VNI of a new namespace with its bridge until the tunnel goes down
  # and up, and that counts only once zebra has read the namespace: so it is done until it worked.
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    on "$1" vtysh -c "show evpn vni $l3 json" | jq -e '.state == "Up"' >/dev/null && return
    printf 'ip -n %s link set vx%s %s\n' "$vrf" "$l3" down "$vrf" "$l3" up | kernel "$1"
    sleep 0.3
  done
  fail "L3VNI $l3 of leaf$1 stays down"
}
tenant_down() {  # leaf vrf_id vlan l2vni; its ports left before
  local vrf l3=$((50000 + $2))
  vrf=$(printf 'Vrf%05d' "$2")
  printf 'vrf %s\n no vni %s\nexit-vrf\nno router bgp 6500%s vrf %s\n' "$vrf" $l3 "$1" "$vrf" |
    routing "$1"
  printf 'ip -n %s link del vx%s\n' "$vrf" "$4" "$vrf" "$l3" | kernel "$1"
  printf 'router bgp 6500%s\n address-family l2vpn evpn\n  no vni %s\n' "$1" "$4" | routing "$1"
  echo "ip netns del $vrf" | kernel "$1"
}
port_joins() {  # leaf port vrf vlan
  echo "ip link set $2 netns $3; ip -n $3 link set $2 master br$4 mtu 9000 up" | kernel "$1"
}
port_leaves() { echo "ip -n $3 link set $2 netns 1" | kernel "$1"; }  # leaf port vrf
port_seen() {  # leaf port vrf: master and flags, by nothing but iproute2
  on "$1" ip -j ${3:+-n "$3"} link show dev "$2" |
    jq -r '.[0] | (.master // "none") + " " + (.operstate | ascii_downcase)'
}

# --- who answers ---------------------------------------------------------------------------------
ECHO='import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("", 7777))
while True:
  s.sendto(socket.gethostname().encode(), s.recvfrom(64)[1])'
# Every 5 ms a question; a line for every answer: milliseconds and the name of who answered.
ASK='import select, socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.setblocking(False)
end = time.time() + float(sys.argv[2])
while time.time() < end:
  try: s.sendto(b"?", (sys.argv[1], 7777))
  except OSError: pass
  if select.select([s], [], [], 0.005)[0]:
    try: print(time.time_ns() // 1000000, s.recv(64).decode(), flush=True)
    except OSError: pass'
ASK_BIG='import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(2); s.setsockopt(0, 10, 2)
s.sendto(b"?" * 8900, (sys.argv[1], 7777)); print(s.recv(64).decode())'
LISTEN='import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("", 7778)); s.settimeout(float(sys.argv[1]))
try:
  while True: print(s.recv(64).decode(), flush=True)
except OSError: pass'
SHOUT='import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.setsockopt(1, socket.SO_BROADCAST, 1)
for _ in range(3):
  s.sendto(socket.gethostname().encode(), ("10.1.0.255", 7778)); time.sleep(0.1)'
answers() { node "$1" python3 -c "$ASK" "$2" "${3:-1}" 2>/dev/null; }  # node address seconds
who() { answers "$@" | cut -d' ' -f2 | sort -u | xargs; }
only() { [[ $(who "$1" "$2") == "$3" ]]; }
# revoked WHAT NODE ADDRESS COMMAND...: answers end within a second of the command's start.
revoked() {
  local what=$1 start last
  answers "$2" "$3" 4 >"$KEEP/answers" &
  local asker=$!
  sleep 1
  start=$(now_ms)
  "${@:4}" || fail "$what: the command"
  wait $asker
  last=$(tail -1 "$KEEP/answers" | cut -d' ' -f1)
  [[ -n $last ]] || fail "$what: nobody answered before"
  ((last - start < 1000 * PATIENCE)) || fail "$what took $((last - start)) ms"
  say "$what: $((last > start ? last - start : 0)) ms from command to last answer"
}

# --- the lab -------------------------------------------------------------------------------------
started=$(now_ms)
tundish lab up --name "$LAB" --root "$ROOT" --fabric frr --nodes 4 --racks 2 --spines 1 \
  --service-nodes 0 --login-nodes 0 || fail "lab up"
say "lab up in $(($(now_ms) - started)) ms"
await 15 "leaf1 has its spine" eval 'on 1 vtysh -c "show bgp l2vpn evpn summary json" |
  jq -e "[.peers[].state] == [\"Established\"]"'
equal "a port at the start" "$(port_seen 1 swp1)" "none down"
equal "its node sees no link" "$(node n01 cat /sys/class/net/eth0/carrier)" 0
for at in 1 2; do
  tenant_up $at 10 110 10010
  tenant_up $at 20 120 10020
done
for at in 1 2; do
  port_joins $at swp1 Vrf00010 110
  port_joins $at swp2 Vrf00020 120
done
for name in "${NODES[@]}"; do
  host=1; [[ $name == n0[34] ]] && host=2
  node "$name" ip addr add $GROUP.$host/24 dev eth0
  node "$name" python3 -c "$ECHO" &
  CHILDREN+=($!)
done
say "tenants A (10) and B (20) on both leaves"

# --- each reaches its own, although all addresses are twice there --------------------------------
await 10 "A: n01 reaches n03" only n01 $GROUP.2 n03
await 10 "B: n02 reaches n04" only n02 $GROUP.2 n04
equal "A back" "$(who n03 $GROUP.1)" n01
equal "B back" "$(who n04 $GROUP.1)" n02
equal "n01 meets" "$(node n01 ip -j neigh show $GROUP.2 | jq -r '.[0].lladdr')" \
  "$(node n03 cat /sys/class/net/eth0/address)"
# A prefix that only the far leaf has: routed by the L3VNI, in A alone.
on 2 ip -n Vrf00010 addr add 10.5.0.1/32 dev lo
on 2 ip netns exec Vrf00010 python3 -c "$ECHO" &
CHILDREN+=($!)
for name in n01 n02; do node "$name" ip route add 10.5.0.0/16 via $GROUP.254; done
await 10 "A: n01 reaches what only leaf2 has" only n01 10.5.0.1 leaf2
equal "its way" "$(on 1 ip -j -n Vrf00010 route show 10.5.0.1 | jq -r '.[0].dev')" br50010
equal "B does not reach it" "$(who n02 10.5.0.1)" ""
node n01 ip link set eth0 mtu 9000
node n03 ip link set eth0 mtu 9000
equal "8900 bytes in one frame reach" "$(node n01 python3 -c "$ASK_BIG" $GROUP.2)" n03
lldp() { on "$1" lldpcli -u "/run/lldpd.$2.socket" -f json0 show neighbors |
  jq -r '[.lldp[0].interface[]? | .name + "=" + .chassis[0].name[0].value + "/" +
    .port[0].descr[0].value] | join(" ")'; }
is_lldp() { [[ $(lldp "$1" "$2") == "$3" ]]; }
await 8 "leaf1 sees whose cable it is" is_lldp 1 Vrf00010 swp1=n01/eth0

# --- revocation, as seen on the wire -------------------------------------------------------------
targets() {  # old new: what A on leaf1 imports. FRR derives a target when none is left.
  local l2=$1 l2_new=$2
  printf '%s\n' 'router bgp 65001' ' address-family l2vpn evpn' '  vni 10010' \
    "   route-target import 65000:$l2_new" "   no route-target import 65000:$l2" exit exit exit \
    'router bgp 65001 vrf Vrf00010' ' address-family l2vpn evpn' \
    "  route-target import 65000:$((l2_new + 40000))" \
    "  no route-target import 65000:$((l2 + 40000))" | routing 1
}
revoked "route targets removed" n01 $GROUP.2 targets 10010 19999
targets 19999 10010
await 5 "route targets are back: n01 reaches n03" only n01 $GROUP.2 n03
revoked "port in quarantine" n01 $GROUP.2 port_leaves 1 swp1 Vrf00010
equal "the port in quarantine" "$(port_seen 1 swp1)" "none down"
equal "its node sees no link" "$(node n01 cat /sys/class/net/eth0/carrier)" 0

# --- a port moves between VRFs; a node's power cycle does not move it ---------------------------
node n01 ip addr flush dev eth0
node n01 ip addr add $GROUP.3/24 dev eth0
port_joins 1 swp1 Vrf00020 120
await 5 "n01 in B reaches n04, at the address where n03 was" only n01 $GROUP.2 n04
lab_post /power '{"node":"n01","action":"cycle"}'
is_off() { [[ $(port_seen 1 swp1 Vrf00020) == "br120 lowerlayerdown" ]]; }
is_back() { [[ $(port_seen 1 swp1 Vrf00020) == "br120 up" ]] && node n01 true; }
await 5 "n01 is off, its port is still B's, without a link" eval 'is_off || is_back'
await 15 "n01 is on, its port is where it was" is_back
node n01 ip addr add $GROUP.3/24 dev eth0
await 5 "n01 reaches n04 after the power cycle" only n01 $GROUP.2 n04
port_leaves 1 swp1 Vrf00020

# --- cables --------------------------------------------------------------------------------------
tundish lab cable cut --lab "$ROOT" n02/eth0
equal "a cut cable" "$(port_seen 1 swp2 Vrf00020)" "br120 down"
tundish lab cable mend --lab "$ROOT" leaf1/swp2
await 5 "a mended one" eval '[[ $(port_seen 1 swp2 Vrf00020) == "br120 up" ]]'
tundish lab cable swap --lab "$ROOT" n03/eth0 n04/eth0
await 8 "a miswired cable is seen by name" is_lldp 2 Vrf00010 swp1=n04/eth0
equal "its port kept its configuration" "$(port_seen 2 swp1 Vrf00010)" "br110 up"
await 5 "n02 reaches n03 through the wrong cable" only n02 $GROUP.2 n03
tundish lab cable swap --lab "$ROOT" n03/eth0 n04/eth0
await 5 "n02 reaches n04 again" only n02 $GROUP.2 n04

# --- a number reissued too early: facts of the trade that tombstones exist for -------------------
# leaf2's programs hang. It goes on flooding A's frames to leaf1, which has forgotten A. A number
# that comes back at once puts them into B's bridge; another number does not.
heard_by_b() {  # l2vni that B gets on leaf1, with targets that A never had
  { tenant_up 1 30 130 "$1" 29999; port_joins 1 swp2 Vrf00030 130; } >&2
  node n02 python3 -c "$LISTEN" 3 >"$KEEP/heard" &
  local listener=$!
  sleep 1
  node n03 python3 -c "$SHOUT"
  wait $listener
  # What vtysh says of a daemon that is not ready yet is no frame.
  { port_leaves 1 swp2 Vrf00030; tenant_down 1 30 130 "$1"; } >&2
  wc -l <"$KEEP/heard"
}
tundish lab switch freeze --lab "$ROOT" leaf2
port_leaves 1 swp2 Vrf00020
tenant_down 1 10 110 10010
# By its console: nothing on it answers any more.
stale=$(node leaf2 bridge -n Vrf00010 fdb show dev vx10010 | grep -c '^00:00:00:00:00:00 dst 10.255.0.1')
equal "stale flood entries of leaf2" "$stale" 1
equal "frames of A in B with a new number" "$(heard_by_b 10031)" 0
leaked=$(heard_by_b 10010)
((leaked > 0)) || fail "the stale entry did not leak: the test proves nothing"
say "frames of A in B with the number of A: $leaked of 3"
tundish lab switch thaw --lab "$ROOT" leaf2
await 15 "leaf2 lives again and drops its stale entry" \
  eval '! on 2 bridge -n Vrf00010 fdb show dev vx10010 | grep "dst 10.255.0.1"'
equal "frames of A in B once leaf2 has seen the release" "$(heard_by_b 10010)" 0

# --- a leaf dies ---------------------------------------------------------------------------------
tundish lab switch off --lab "$ROOT" leaf2
await 5 "a dead leaf: its nodes lose their link" \
  eval '[[ $(node n03 cat /sys/class/net/eth0/carrier) == 0 ]]'
equal "its nodes keep their interface" "$(node n03 ip -j addr show dev eth0 |
  jq -r '.[0].addr_info[0].local')" $GROUP.2
tundish lab switch on --lab "$ROOT" leaf2
await 20 "leaf2 is back, with its underlay" eval 'on 1 vtysh -c "show ip route 10.255.0.2 json" |
  jq -e "has(\"10.255.0.2/32\")"'
equal "its ports are in quarantine" "$(port_seen 2 swp1)" "none down"
equal "no namespace is left on it" "$(on 2 ip netns list | wc -l)" 0

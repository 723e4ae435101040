# What a tenant sends to a leaf, and what a stranger puts into the kernel of one: the leaf gets no
# IPv6 address and answers no tenant; whatever joins two tenants beside our part is an incident that
# says so, and ends when it is taken out.
source "$(dirname "$0")/lib/common.bash"

lab_up --nodes 6 --racks 2 --login-nodes 2 --fabric frr
import_site
tenant acme alice 64
tenant bolt bob 64
create train acme 1 0 --prefix 10.70.0.0/24 --no-login
create tune bolt 1 0 --prefix 10.71.0.0/24

leaf() { timeout 20 tundish lab exec "$1" --lab "$ROOT" -- "${@:2}"; }
in_step() { tundish network show "$1" >/dev/null; }
vrf_of() { tundish network show "$1" -o json | jq -r .vrf; }
# The leaf of the storage has every tenant.
device=$(tundish fabric list -o json | jq -r '[.[] | select(.spec.storage_ports != null)][0] |
  .spec.storage_ports[0].switch_name')
bridge_of() { # CLUSTER LEAF
  tundish network show "$1" -o json | jq -r --arg d "$2" 'first(.rows[] |
    select(.object == $d and (.item | startswith("segment ")))).wanted |
    "br" + capture("vlan (?<v>[0-9]+)").v'
}
isolation() { # PLACE: what the open incident of that place says
  tundish incident list -o json | jq -r --arg p "$1" '.[] | select(.state == "open" and
    .subject == $p and (.fault | startswith("isolation"))).blame'
}
is_told() { [[ $(isolation "$1") == *"$2"* ]]; }
is_over() { [[ -z $(isolation "$1") ]]; }
both_in_step() { in_step train && in_step tune; }
await 40 "both are in step" both_in_step

# ---- a tenant offers the leaf an IPv6 address -----------------------------------------------------
member=$(members train member) vrf=$(vrf_of train)
home=$(tundish node show "$member" -o json | jq -r '.spec.ports[] | select(.role == "access" and
  .name == "eth0").switch_name')
on "$member" python3 -c '
import socket, struct
def sum16(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff
src = socket.inet_pton(socket.AF_INET6, "fe80::66")
dst = socket.inet_pton(socket.AF_INET6, "ff02::1")
prefix = struct.pack("!BBBBIII", 3, 4, 64, 0xc0, 86400, 86400, 0) + \
    socket.inet_pton(socket.AF_INET6, "2001:db8:66::")
ra = struct.pack("!BBHBBHII", 134, 0, 0, 64, 0, 1800, 0, 0) + prefix
pseudo = src + dst + struct.pack("!II", len(ra), 58)
ra = ra[:2] + struct.pack("!H", sum16(pseudo + ra)) + ra[4:]
packet = struct.pack("!IHBB", 6 << 28, len(ra), 58, 255) + src + dst + ra
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
wire.bind(("eth0", 0x86dd))
for turn in range(3):
    wire.send(bytes.fromhex("333300000001") + b"\x02\0\0\0\0\x66" + b"\x86\xdd" + packet)' ||
  fail "$member could not send"
sleep 2
equal "IPv6 addresses of $vrf on $home" \
  "$(leaf "$home" ip -n "$vrf" -6 -o addr show | grep -vc ' lo ')" 0
equal "IPv6 routes of $vrf on $home" "$(leaf "$home" ip -n "$vrf" -6 route | grep -c default)" 0
in_step train || fail "not in step: $(tundish network show train)"
# Whoever turns it on again is named.
bridge=$(bridge_of train "$home")
leaf "$home" ip netns exec "$vrf" sysctl -qw "net.ipv6.conf.$bridge.disable_ipv6=0" || fail sysctl
leaf "$home" ip -n "$vrf" addr add 2001:db8:66::9/64 dev "$bridge" || fail "an IPv6 address by hand"
six() { [[ $(tundish network show train) == *"addr 2001:db8:66::9/64 dev $bridge"* ]]; }
await 40 "an IPv6 address by hand is named" six
has "and that the link speaks it" "$(tundish switch list)" "IPv6 is on in $vrf"
leaf "$home" ip netns exec "$vrf" sysctl -qw "net.ipv6.conf.$bridge.disable_ipv6=1"
await 40 "train is in step" in_step train

# ---- a tenant's own rule and the links between the leaf's VRFs --------------------------------------
exits 0 tundish cluster firewall tune --firewall "permit ip@0.0.0.0/0" >/dev/null
await 40 "the rule is on the leaves" in_step tune
for node in $(members tune member) $(members tune login); do
  on "$node" ip route add 169.254.1.0/30 via 10.71.0.1 || fail "a route of $node"
  for far in 169.254.1.1 169.254.1.2; do
    if reaches "$node" $far 179; then fail "$node reaches the routing daemon at $far"; fi
  done
  on "$node" ip route del 169.254.1.0/30
done
say "nobody calls the leaf by its links between VRFs"

# ---- routes with the number of FRR's own ------------------------------------------------------------
far=$(vrf_of tune) storage=$(leaf "$device" ip netns list | awk '{print $1}' | sort | tail -n 1)
end_in() { leaf "$device" ip -n "$1" -o link show type veth | sed -n 's/.*: \(lk[0-9]*[ab]\)@.*/\1/p'; }
near_end=$(end_in "$vrf")
[[ -n $near_end ]] || fail "$vrf has no link to $storage on $device"
for number in 196 kernel; do
  leaf "$device" ip -n "$vrf" route add 10.71.0.0/24 via 169.254.1.2 dev "$near_end" onlink \
    proto $number || fail "a route by hand"
  await 40 "one of $number is an incident that names both" is_told "$device" \
    "acme/train and bolt/tune"
  has "network show tells the route" "$(tundish network show train)" "route 10.71.0.0/24"
  leaf "$device" ip -n "$vrf" route del 10.71.0.0/24
  await 40 "the incident is over" is_over "$device"
done
await 40 "both are in step" both_in_step

# ---- a pair of links between two tenants' bridges ---------------------------------------------------
shared=$(for leaf in leaf1 leaf2; do
  [[ $(bridge_of train $leaf) == br* && $(bridge_of tune $leaf) == br* ]] && echo $leaf
done 2>/dev/null | head -n 1)
if [[ -n $shared ]]; then
  leaf "$shared" ip -n "$vrf" link add x0 type veth peer name x1 netns "$far" || fail "a pair"
  leaf "$shared" ip -n "$vrf" link set x0 master "$(bridge_of train "$shared")" up
  leaf "$shared" ip -n "$far" link set x1 master "$(bridge_of tune "$shared")" up
  await 40 "a pair of links is an incident" is_told "$shared" "acme/train and bolt/tune"
  has "the pair is named" "$(isolation "$shared")" "link x"
  leaf "$shared" ip -n "$vrf" link del x0
  await 40 "that is over" is_over "$shared"
  # As a container's: the namespace between them has no name.
  leaf "$shared" sh -c "unshare -n sleep 300 & pid=\$!; sleep 0.5
    ip -n $vrf link add z0 mtu 9000 type veth peer name z1 mtu 9000 netns \$pid
    ip -n $far link add z2 mtu 9000 type veth peer name z3 mtu 9000 netns \$pid
    ip -n $vrf link set z0 master $(bridge_of train "$shared") up
    ip -n $far link set z2 master $(bridge_of tune "$shared") up" || fail "two pairs"
  await 40 "links into a namespace without a name are an incident" is_told "$shared" \
    "acme/train and bolt/tune"
  has "they are named" "$(isolation "$shared")" "lead to where nobody looks"
  leaf "$shared" sh -c "ip -n $vrf link del z0; ip -n $far link del z2"
  await 40 "that is over too" is_over "$shared"
fi

# ---- a stranger's namespace in a tenant's segment, where the tenant has nothing ---------------------
vni=$(tundish network show train -o json | jq -r .vni)
other=leaf1
[[ $home == leaf1 ]] && other=leaf2
leaf "$other" sh -c "ip netns add blue && ip link add vxb type vxlan id $vni local \
  \$(ip -4 -o addr show lo scope global | awk '{sub(\"/.*\", \"\", \$4); print \$4; exit}') dstport 4789 nolearning &&
  ip link set vxb netns blue && ip -n blue link add brb type bridge && ip -n blue link set vxb master brb &&
  ip -n blue addr add 10.70.0.77/24 dev brb && ip -n blue link set brb up && ip -n blue link set vxb up" ||
  fail "a stranger's namespace"
await 40 "it is an incident" is_told "$other" "acme/train and a stranger"
not_synced() {
  [[ $(tundish network list -o json | jq -r '.[] | select(.meta.name == "train").status.sync[].state' |
    grep -vc synced) -gt 0 ]]
}
await 20 "network list says so" not_synced
exits 4 tundish network show train >"$WORK/show.txt" || exit 1
has "network show says so" "$(cat "$WORK/show.txt")" "is used by somebody else's lines"
leaf "$other" ip netns del blue
await 40 "that is over" is_over "$other"
await 40 "both are in step" both_in_step

# Tenants' storage over the fabric: the export follows the node. Every member sees its own tenant's
# files over its own network and nobody else's, also when root of a node takes another tenant's
# address and key; a node that leaves is seen to have left before its address is anybody else's; a
# storage that is away loses no file, is blamed itself, once for all its clients, and costs no node.
source "$(dirname "$0")/lib/common.bash"
source "$(dirname "$0")/lib/blame.bash"

lab_up --nodes 6 --racks 2 --login-nodes 2 --fabric frr
import_site
tenant acme alice 64
tenant bolt bob 64
create train acme 2 1
create tune bolt 2 0

stor() { on stor1 storage-export "$@"; }
address_of() { # CLUSTER NODE: towards the storage
  tundish network show "$1" -o json | jq -r --arg n "$2" \
    '[.rows[] | select(.item | startswith("grant \($n) "))][0].item | split(" ")[2]'
}
row() { # CLUSTER ITEM-BEGINNING: state of a row of the storage
  tundish network show "$1" -o json | jq -r --arg i "$2" \
    '[.rows[] | select(.object == "storage of access" and (.item | startswith($i)))][0].state'
}
granted() { stor list | grep -qw "$1"; }
in_use() { stor sessions | grep -qw "$1"; }
gone() { ! granted "$1" && ! in_use "$1"; }
in_step() { tundish network show "$1" >/dev/null; }
login_as() { # NODE EXPORT ADDRESS KEYFILE: whether the storage lets it in
  on "$1" timeout -k 1 6 ssh -F /dev/null -b "$3" -i "$4" -o IdentitiesOnly=yes -o BatchMode=yes \
    -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o ConnectTimeout=2 \
    -s "$2@10.200.0.10" sftp </dev/null >/dev/null 2>&1
}
KEY=/var/lib/tundish/storage_key

# ---- own data on every member, with the numbers of its users --------------------------------
for name in train tune; do await 30 "network $name is in step" in_step "$name"; done
login train alice 'mkdir -p /data/alice && echo mine >/data/alice/hello' || fail "writing"
login tune bob 'mkdir -p /data/bob && echo theirs >/data/bob/hello' || fail "writing"
for node in $(members train member) $(members train login); do
  equal "$node reads" "$(on "$node" cat /data/alice/hello)" mine
  equal "$node mounts by" "$(on "$node" findmnt -no FSTYPE /data | tail -n 1)" fuse
  on "$node" test ! -e /run/tundish-hw/storage/bolt || fail "$node sees the storage of bolt"
done
equal "the file is its writer's" "$(stat -c %U:%a "$ROOT/storage/acme/alice/hello" |
  sed 's/.*://')" 644
uid=$(login train alice 'id -u')
equal "owner on the server" "$(stat -c %u "$ROOT/storage/acme/alice/hello")" "$uid"
job=$(ring train acme alice 2 1000000) || fail "sbatch"
await 40 "a job of two nodes makes steps" steps_pass 3 acme alice

# ---- nobody else's ---------------------------------------------------------------------------
mine=$(members train member | awk '{print $1}') theirs=$(members tune member | awk '{print $1}')
a=$(address_of train "$mine") b=$(address_of tune "$theirs")
[[ $a == 100.64.* && $b == 100.64.* && $a != "$b" ]] || fail "addresses: '$a' '$b'"
on "$mine" cat "$KEY" | on "$theirs" sh -c 'umask 077; cat >/srv/stolen'
login_as "$theirs" bolt "$b" "$KEY" || fail "$theirs does not reach its own export"
! login_as "$theirs" acme "$b" "$KEY" || fail "$theirs is let into acme with its own key"
! login_as "$theirs" acme "$b" /srv/stolen || fail "$theirs is let into acme with a stolen key"
on "$theirs" ip addr add "$a/32" dev eth0
! login_as "$theirs" acme "$a" /srv/stolen || fail "$theirs is let in from an address of acme"
on "$theirs" ip addr del "$a/32" dev eth0
say "a stolen key and address open nothing"
tundish network probe -o json >"$WORK/probe.json" ||
  fail "the probe: $(jq -c . "$WORK/probe.json")"
jq -e '(.storage | length) == 4 and all(.storage[]; .good) and
  all(.storage[] | select(.same); .cell == "open") and
  all(.storage[] | select(.same | not); .cell == "closed")' "$WORK/probe.json" >/dev/null ||
  fail "the storage's part of the matrix: $(jq -c .storage "$WORK/probe.json")"
say "the matrix has the storage: own open, others closed"

# ---- a key by hand is named, and only to whom it opens something -------------------------------
on stor1 sh -c 'cp /etc/ssh/exports/acme /srv/as-it-was && ssh-keygen -qt ed25519 -N "" -f /srv/byhand &&
  echo "restrict $(cat /srv/byhand.pub)" >>/etc/ssh/exports/acme' || fail "a key by hand"
key_end=$(on stor1 cut -d' ' -f2 /srv/byhand.pub | tail -c 17)
told() { [[ $(tundish network show train) == *"key ssh-ed25519 ...$key_end in export acme"* ]]; }
await 30 "the key by hand is named" told
equal "its row" "$(row train "key ssh-ed25519 ...$key_end")" foreign
has "network list tells it" "$(tundish network list)" "drifted on storage of access"
equal "rows of the other tenant" "$(row tune "key ")" null
on stor1 cp /srv/as-it-was /etc/ssh/exports/acme || fail "taking the key out"
for name in train tune; do await 30 "network $name is in step" in_step "$name"; done

# ---- the export follows the node, and tundishd dies between taking and giving -----------------
on "$mine" sh -c 'cp '"$KEY"' /srv/kept'
cp "$ROOT/tundishd.yaml" "$WORK/plain.yaml"
starts=$(daemon_starts)
printf 'crash_at: act:revoke_export:end\n' >>"$ROOT/tundishd.yaml"
daemon kill
await 15 "tundishd is back" daemon_answers
cp "$WORK/plain.yaml" "$ROOT/tundishd.yaml"
await 20 "every agent was heard" all_heard
spare=$(members train spare)
inject --node "$mine" --xid 79 --gpu 0
died() { (($(daemon_starts) > starts + 1)); }
await 60 "tundishd died right after it took the export away" died
await 15 "tundishd is back" daemon_answers
swapped() { [[ " $(members train member) " == *" $spare "* && " $(members train member) " != *" $mine "* ]]; }
await 90 "the spare took over" swapped
await 60 "neither a grant nor a session of $mine is left" gone "$a"
whole() { [[ $(cluster_phase train) == active && $(members train member | wc -w) == 2 ]]; }
await 90 "the cluster is whole" whole
await 40 "the network is in step" in_step train
equal "the spare reads" "$(on "$spare" cat /data/alice/hello)" mine
differs "the spare's address" "$(address_of train "$spare")" "$a"
free() { [[ $(members train spare) == "$mine" || $(node_phase "$mine") == ready ]]; }
await 120 "$mine was given back" free
! on "$mine" test -e /data/alice/hello || fail "$mine still shows /data/alice"
! on "$mine" test -e "$KEY" || fail "$mine keeps the key"
if on "$mine" test -e /srv/kept; then
  on "$mine" ip addr add "$a/32" dev eth0 2>/dev/null
  ! login_as "$mine" acme "$a" /srv/kept || fail "$mine is let in after it left"
  on "$mine" ip addr del "$a/32" dev eth0 2>/dev/null
fi
say "who left reads nothing, with the old key and address too"
before=$(step_count acme alice)
await 60 "the job goes on" steps_pass "$before" acme alice
no_gap acme alice

# ---- a storage that is away: the server is blamed, and no node --------------------------------
node=$(members tune member | awk '{print $1}')
read -r -a clients <<<"$(echo $(for name in train tune; do
  members $name member && members $name login; done))"
pace 10 "${clients[@]}"
await 60 "every node was judged in its boot" all_judged
await 60 "no node is out of service" no_claims
open_incidents() { # what is blamed
  tundish incident list -o json | jq -r '[.[] | select(.state == "open") |
    "\(.blamed.part) of \(.subject_kind) \(.subject)"] | join(", ")'
}
server="storage_server of storage 10.200.0.10 of access"
equal "open incidents" "$(open_incidents)" ""
count=$(node_incidents)
watch_claims
on "$node" sh -c 'echo 1 >/data/bob/before'
exits 0 tundish lab switch off stor1 --lab "$ROOT" >/dev/null
never 10 "something is written beside the storage" \
  on "$node" timeout -k 1 3 sh -c 'echo lost >/data/lost && echo lost >/data/bob/lost'
unknown() { [[ $(row tune "grant $node ") == unknown ]]; }
await 60 "the grants are unknown" unknown
code=0 && tundish network show tune >/dev/null || code=$?
equal "exit of network show" "$code" 4
await 90 "the server is blamed" blames storage_server storage
equal "open incidents" "$(open_incidents)" "$server"
hit() { tundish incident show "$(cat "$WORK/blamed")" -o json | jq '.affected | length'; }
await 60 "for all its clients" is hit = "${#clients[@]}"
exits 0 tundish lab switch on stor1 --lab "$ROOT" >/dev/null
known() { [[ $(row tune "grant $node ") == same ]]; }
await 60 "the grants are seen again" known
reads() { [[ $(on "$node" timeout -k 1 5 cat /data/bob/hello) == theirs ]]; }
await 30 "$node reads again" reads
if on "$node" test -e /data/lost; then fail "a file from the time without storage"; fi
say "nothing was written beside the storage"
over() { ! blames storage_server storage; }
await 120 "it is over when the server answers" over
equal "open incidents" "$(open_incidents)" ""
equal "incidents of nodes since" $(($(node_incidents) - count)) 0
unclaimed "a storage that is away"

# ---- the programs behind the mount die: nothing falls into the bare mount point ---------------
on "$node" sh -c 'kill -9 $(cat /run/tundish-sshfs.pid) $(cat /run/tundish-bindfs.pid); sleep 0.3
  umount -l /data; echo lost >/data/lost' && fail "the bare mount point was written"
say "a bare mount point refuses even root"

history_intact

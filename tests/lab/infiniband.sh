# InfiniBand in the lab: each tenant's HCAs carry the PKey of their cluster and no other, by the
# ports' own tables, before and after a swap and a delete; a stale monitor is noticed and named;
# tundishd may die between the steps; a subnet manager that stands still proves nothing.
source "$(dirname "$0")/lib/common.bash"

lab_up --nodes 8 --racks 2 --login-nodes 1 --fabric frr
import_site
tenant acme alice 64
tenant bolt bob 64

# By the diagnostic tools on the manager's box, not by what tundishd says.
sm() { timeout 30 tundish lab exec sm1 --lab "$ROOT" -- sh -c "$1"; }
read_tables() { # GUID and the keys of its table, a line per HCA
  sm 'ibnetdiscover -p | while read -r kind lid port guid rest; do
      [ "$kind" = CA ] || continue
      keys=$(smpquery pkeys "$lid" "$port" </dev/null | sed -n "s/^ *[0-9]*: //p" | tr " " "\n" |
        grep -v 0x0000 | sort | tr "\n" " ")
      echo "$guid $keys"
    done' >"$WORK/tables"
  [[ -s $WORK/tables ]]
}
guid_of() {
  nodes_json | jq -r --arg n "$1" \
    '.[] | select(.meta.name == $n).spec.ports[] | select((.guid // "") != "").guid'
}
manager_guid=$(sm 'sminfo' | sed -n 's/.* guid \(0x[0-9a-f]*\),.*/\1/p')
manager_guid=$(printf '0x%016x' "$manager_guid")
key_of() { # CLUSTER: as a full member's table shows it
  printf '0x%04x' $(($(tundish network list -o json | jq --arg c "$1" \
    '.[] | select(.meta.name == $c).status.pkey') | 0x8000))
}
# Every HCA: its cluster's key, full, and the default partition, limited; free ones only the latter.
tables_hold() { # CLUSTER...
  local cluster node key guid keys
  declare -A wanted=()
  read_tables || return 1
  for cluster in "$@"; do
    key=$(key_of "$cluster")
    for node in $(members "$cluster" member); do wanted[$(guid_of "$node")]=$key; done
  done
  while read -r guid keys; do
    [[ $guid != "$manager_guid" ]] || continue
    [[ $keys == "0x7fff${wanted[$guid]:+ ${wanted[$guid]}}" ]] ||
      { echo "port $guid carries '$keys', wanted '0x7fff ${wanted[$guid]:-}'"; return 1; }
    unset "wanted[$guid]"
  done < <(sed 's/ *$//' "$WORK/tables")
  ((${#wanted[@]} == 0)) || { echo "not there: ${!wanted[*]}"; return 1; }
}
check_tables() { # WHEN CLUSTER...
  local text
  text=$(tables_hold "${@:2}") || fail "$1: $text; $(cat "$WORK/tables")"
  say "$1: each port carries its own partition"
}
in_step() { tundish network show "$1" >/dev/null; }
state_of() { # CLUSTER: of ib0
  tundish network list -o json |
    jq -r --arg c "$1" '.[] | select(.meta.name == $c).status.sync[] | select(.object == "ib0").state'
}

# A cluster is active only when its ports were seen inside.
create train acme 2 1
check_tables "train is active" train
create tune bolt 2 0 --no-login
create eval bolt 2 0 --no-login
check_tables "three clusters of two tenants" train tune eval
for name in train tune eval; do await 30 "network $name is in step" in_step "$name"; done
exits 0 tundish network show train >"$WORK/show.txt"
grep -q "= partition t[0-9]*  PKey 0x0[0-9a-f]*, 2 members" "$WORK/show.txt" ||
  fail "network show: $(cat "$WORK/show.txt")"
[[ $(grep -c "= port 0x0002c9.* (n0[0-9])  $(key_of train)" "$WORK/show.txt") == 2 ]] ||
  fail "network show has not both ports: $(cat "$WORK/show.txt")"

# Tables and a path record for each pair of ports, asked of the subnet manager.
probe() { code=0 && tundish network probe -o json >"$WORK/probe.json" || code=$?; }
matrix_holds() {
  jq -e '(.partitions | length) == 9 and all(.partitions[]; .good) and
    all(.partitions[] | select(.same); .tables == "open" and .paths == "open") and
    all(.partitions[] | select(.same | not); .tables == "closed" and .paths == "closed")' \
    "$WORK/probe.json" >/dev/null
}
probe
equal "exit of the probe" "$code" 0
matrix_holds || fail "the matrix: $(jq -c .partitions "$WORK/probe.json")"
say "PKey tables and path records: open inside, closed across"

# A fault: the spare comes in, the broken node goes out and is seen to have left.
broken=$(members train member | awk '{print $1}')
settled() { [[ $(incident_state "$1") == resolved && $(active_claims "$1") == 0 ]]; }
inject --node "$broken" --xid 79 --gpu 0
await 120 "the fault is settled" settled "$broken"
whole() { [[ $(cluster_phase train) == active && $(members train member | wc -w) == 2 ]]; }
await 60 "the cluster is whole" whole
await 30 "the ports follow" tables_hold train tune eval
check_tables "after a swap" train tune eval
for name in train tune eval; do await 30 "network $name is in step" in_step "$name"; done
probe
equal "exit of the probe after the swap" "$code" 0
matrix_holds || fail "the matrix after the swap: $(jq -c .partitions "$WORK/probe.json")"

# A stale monitor writes an old member back (NICo #5142, #5148, #5379).
plant() { # CLUSTER NODE
  local name key guid
  name=$(printf 't%05d' "$(tundish network list -o json | jq --arg c "$1" \
    '.[] | select(.meta.name == $c).status.vrf_id')")
  key=$(printf '0x%04x' $(($(key_of "$1") & 0x7fff))) guid=$(guid_of "$2")
  sm "cd /etc/opensm && cp -p partitions.conf before && cp -p partitions.conf.tundish-tried tried &&
    echo '$name=$key, defmember=limited : $guid=full ;' >>partitions.conf && pkill -HUP -x opensm" ||
    fail "planting $2 in $1"
}
take_back() {
  sm 'cd /etc/opensm && mv before partitions.conf && mv tried partitions.conf.tundish-tried &&
    pkill -HUP -x opensm' || fail "taking it back"
}
tells() { # CLUSTER TEXT
  tundish network list -o json |
    jq -r --arg c "$1" '.[] | select(.meta.name == $c).status.sync[].reason' | grep -qF -- "$2"
}
plant train "$broken"
await 30 "the stale member is drift" is state_of train = drifted
await 10 "and is named" tells train "($broken)"
code=0 && tundish network show train >"$WORK/show.txt" || code=$?
equal "exit of network show with a stale member" "$code" 4
has "network show names it" "$(cat "$WORK/show.txt")" "($broken)"
has "fabric list names it" "$(tundish fabric list)" "($broken)"
never 12 "the stale member is taken out within the hour" is state_of train = synced
take_back
await 40 "the network is in step again" in_step train

# The same with a node of the other tenant: that is a leak.
theirs=$(members eval member | awk '{print $1}')
plant train "$theirs"
await 30 "both networks drift" is state_of eval = drifted
probe
equal "exit of a probe that sees a leak" "$code" 3
jq -e 'any(.partitions[] | select(.same | not); .tables == "open") and
  any(.partitions[] | select(.same | not); .paths == "open")' "$WORK/probe.json" >/dev/null ||
  fail "the leak is not in the matrix: $(jq -c .partitions "$WORK/probe.json")"
say "a leak is seen in the tables and in the path records"
take_back
for name in train eval; do await 40 "network $name is in step again" in_step "$name"; done
check_tables "after the hand took it back" train tune eval

# tundishd dies before and after the change of a deleted cluster's partition, and of a new one's.
config=$ROOT/tundishd.yaml
cp "$config" "$WORK/plain.yaml"
kill_quietly() {
  curl -sS --unix-socket "$ROOT/run/lab.sock" -X POST -d '{"action":"kill"}' http://lab/daemon \
    >/dev/null 2>&1
}
died() { (($(daemon_starts) > $1)); }
with_crash() { # HOOK COMMAND...
  local starts hook=$1
  shift
  { cat "$WORK/plain.yaml"; echo "crash_at: $hook"; echo "crash_nth: 1"; } >"$config"
  restart_daemon
  await 40 "every agent is heard" all_heard
  starts=$(daemon_starts)
  "$@" >/dev/null 2>&1
  await 60 "tundishd died at $hook" died "$starts"
  cp "$WORK/plain.yaml" "$config"
  kill_quietly
  await 20 "tundishd is back" daemon_answers
}
gone() { ! tundish cluster show eval; }
nothing_left() { ! sm 'cat /etc/opensm/partitions.conf' | grep -qi "${1}"; }
old_key=$(printf '0x%04x' $(($(key_of eval) & 0x7fff)))
with_crash act:set_partition:start tundish cluster delete eval --yes
await 90 "eval is gone" gone
nothing_left "$old_key" || fail "the deleted cluster's partition is still in the file"
check_tables "after a delete with a crash" train tune
free() {
  [[ $(nodes_json | jq 'map(select(.spec.sku != "" and .status.phase == "ready" and
    (.status.allocation // "") == "")) | length') -ge 2 ]]
}
await 60 "its nodes are free" free
with_crash act:set_partition:end tundish cluster create late --tenant bolt --engine slurm --nodes 2 \
  --spares 0 --no-login
await 90 "late is active" is cluster_phase late = active
check_tables "after a create with a crash" train tune late
differs "the key of the deleted cluster rests" "$(key_of late)" "$(printf '0x%04x' $((old_key | 0x8000)))"

# A subnet manager that stands still (NICo #2614): unknown, never synced, and nobody is let go.
for name in train tune late; do await 40 "network $name is in step" in_step "$name"; done
exits 0 tundish lab switch freeze sm1 --lab "$ROOT" >/dev/null
await 60 "the fabric is unknown" is state_of train = unknown
never 10 "a frozen manager is called synced" is state_of tune = synced
code=0 && tundish network show train >"$WORK/show.txt" || code=$?
equal "exit of network show while it stands" "$code" 4
probe
equal "exit of the probe while it stands" "$code" 4
jq -e 'all(.partitions[]; .tables == "unknown" and .paths == "unknown")' "$WORK/probe.json" \
  >/dev/null || fail "the matrix while it stands: $(jq -c .partitions "$WORK/probe.json")"
exits 0 tundish cluster delete late --yes >/dev/null
is_leaving() { [[ $(tundish cluster show late -o json | jq -r .status.phase) == deleting ]]; }
gone_late() { ! tundish cluster show late; }
never 10 "a node is let go that was not seen to have left" gone_late
await 5 "the delete waits" is_leaving
exits 0 tundish lab switch thaw sm1 --lab "$ROOT" >/dev/null
await 90 "late is gone" gone_late
await 30 "the ports follow" tables_hold train tune
check_tables "after the thaw" train tune
for name in train tune; do await 40 "network $name is in step" in_step "$name"; done
exits 0 tundish cluster delete train --yes --wait >/dev/null
exits 0 tundish cluster delete tune --yes --wait >/dev/null
await 30 "the ports are free" tables_hold
check_tables "after everything is deleted"
! sm 'cat /etc/opensm/partitions.conf' | grep -q '^t[0-9]' || fail "a partition of ours is left"
history_intact

#!/bin/bash
# Goal: two tenants on one InfiniBand fabric, isolated by the shipped driver on a real opensm.
# Method: ibsim with two leaves and seven ports in a network namespace of its own; every change of
# partitions.conf is the driver's. Needs root. Leaves nothing behind.
# Usage: opensm_driver.sh DRIVER   (tests/netns/opensm_driver.cpp)
set -u
if [ -z "${INSIDE:-}" ]; then
  exec env INSIDE=yes unshare --net --pid --fork --kill-child --mount-proc bash "$0" "$@"
fi
driver=$(readlink -f "${1:?path of opensm_driver}")
work=$(mktemp -d /tmp/opensm-driver.XXXXXX)
cd "$work" || exit 1
export TMPDIR=$work  # killed scripts cannot clean up
failed=0
started=$(date +%s%N)

now_ms() { echo $((($(date +%s%N) - started) / 1000000)); }
say() { printf '%6d ms  %s\n' "$(now_ms)" "$*"; }
fail() { say "FAIL $*"; failed=1; }
clean_up() { cd /; rm -rf "$work"; }
trap clean_up EXIT

for lib in /usr/lib/*/umad2sim/libumad2sim.so; do :; done
[ -e "$lib" ] || { echo "libumad2sim is missing: install ibsim-utils"; exit 1; }

# Manager, two nodes of tenant A, two of tenant B, two spare; the port GUID is the node's plus 1.
hcas=(0000000000020000 0000000000020010 0000000000020020 0000000000020030 0000000000020040
  0000000000020050 0000000000020060)
{
  for leaf in 1 2; do
    printf 'switchguid=0x100%d(100%d)\nSwitch 12 "S-000000000000100%d" # "leaf%d"\n' \
      $leaf $leaf $leaf $leaf
    for i in "${!hcas[@]}"; do
      [ $((i % 2 + 1)) -eq $leaf ] && printf '[%d] "H-%s"[1]\n' $((i + 1)) "${hcas[$i]}"
    done
    printf '[12] "S-000000000000100%d"[12]\n\n' $((3 - leaf))
  done
  for i in "${!hcas[@]}"; do
    printf 'caguid=0x%s\nHca 1 "H-%s" # "node%02d mlx5_0"\n' "${hcas[$i]}" "${hcas[$i]}" "$i"
    printf '[1](%s) "S-000000000000100%d"[%d]\n\n' "${hcas[$i]%0}1" $((i % 2 + 1)) $((i + 1))
  done
} >net
g() { printf '0x%s' "${hcas[$1]%0}1"; }

mkfifo con
exec 3<>con
ibsim -s net <&3 >ibsim.out 2>&1 &
for _ in $(seq 100); do grep -q 'simulator ready' ibsim.out && break; sleep 0.02; done
printf '# of the operator\nstore=0x4001, defmember=limited : %s=full, ALL_SWITCHES ;\n' "$(g 0)" >foreign
cp foreign partitions.conf
export OSM_FILE=$work/partitions.conf OSM_PID=$work/opensm.pid OSM_NODE=H-${hcas[0]} OSM_LIB=$lib
sim() { env SIM_HOST="H-${hcas[$1]}" LD_PRELOAD="$lib" "${@:2}"; }
: >opensm.conf
(exec env OSM_CACHE_DIR="$work/" OSM_TMP_DIR="$work/" SIM_HOST="H-${hcas[0]}" LD_PRELOAD="$lib" \
  opensm -F opensm.conf -P partitions.conf -f osm.log >/dev/null 2>&1) &
echo $! >opensm.pid
for _ in $(seq 200); do sim 0 sminfo 2>/dev/null | grep -q MASTER && break; sleep 0.05; done
for _ in $(seq 100); do [ "$("$driver" read 2>/dev/null | grep -c '^port.*0x7fff')" -ge 6 ] && break; done
say "fabric up"

a="t00010=0x0110:$(g 1),$(g 2)" b="t00011=0x0111:$(g 3),$(g 4)"
drive() { "$driver" "$@" 2>steps; }
sim 0 ibnetdiscover -p 2>/dev/null >links
for i in "${!hcas[@]}"; do lids[i]=$(awk -v g="$(g "$i")" '$1 == "CA" && $4 == g { print $2 }' links); done
carries() { sim 0 smpquery pkeys "${lids[$1]}" 1 2>/dev/null | grep -q " $2"; }
# A path record from one port to another, asked by the first.
path() { sim "$1" saquery PR --src-to-dst "${lids[$1]}:${lids[$2]}" 2>/dev/null; }

out=$(drive apply "$a" "$b") && say "two tenants: $out" || fail "two tenants: $out"
cat steps
for i in 1 2; do carries $i 0x8110 || fail "A's node $i has no PKey"; carries $i 0x8111 && fail "A in B"; done
for i in 3 4; do carries $i 0x8111 || fail "B's node $i has no PKey"; carries $i 0x8110 && fail "B in A"; done
drive read | grep -v manager | grep -q '^port.*0xffff' && fail "a port is full in the default partition"
tail -c "$(stat -c %s foreign)" partitions.conf | cmp -s - foreign || fail "the operator's lines changed"
path 1 2 | grep -qi 'pkey.*0x8110' || fail "no path inside A"
path 3 4 | grep -qi 'pkey.*0x8111' || fail "no path inside B"
for pair in '1 3' '1 4' '2 3' '3 1' '4 2'; do
  path $pair | grep -qi 'pkey' && fail "a path record crosses: $pair"
done
say "path records stay inside the tenants"
drive read | grep -q "^cable 0x0000000000001001/12 0x0000000000001002/12" ||
  fail "the cable between the leaves is not seen"

# Revoke while the fabric runs: from the call to the table of the port, watched by another process.
( while carries 2 0x8110; do :; done; now_ms >gone ) &
watcher=$!
begin=$(now_ms)
out=$(drive apply "t00010=0x0110:$(g 1)" "$b") || fail "revoke: $out"
cat steps
wait $watcher
took=$(($(cat gone) - begin))
say "revoked: seen on the port $took ms after the call"
[ $took -lt 1000 ] || fail "the port kept its PKey for $took ms"
[ "$(wc -l <steps)" -eq 3 ] || fail "a member that leaves waited for the canary"
carries 2 0x8110 && fail "the revoked port still carries the PKey"
path 1 2 | grep -qi 'pkey.*0x8110' && fail "a path to the revoked port"

# The same questions by the driver, of the manager's node.
out=$("$driver" paths "$(g 1),$(g 3)" "$(g 3),$(g 4)" "$(g 4),0x00000000000200f1") || fail "paths: $out"
printf 'path %s %s\npath %s %s 0x0111\nsilent %s %s\n' "$(g 1)" "$(g 3)" "$(g 3)" "$(g 4)" "$(g 4)" \
  0x00000000000200f1 | cmp -s - <(echo "$out") || fail "paths: $out"

# A subnet manager that stands still proves nothing: no look, no path, no change that is called done.
kill -STOP "$(cat opensm.pid)"
"$driver" read | grep -q 'does not answer' || fail "a frozen opensm was read"
"$driver" paths "$(g 3),$(g 4)" | grep -q 'does not answer' || fail "a frozen opensm told a path"
out=$(drive apply "$b") && fail "a change was done by a frozen opensm: $out"
kill -CONT "$(cat opensm.pid)"
out=$(drive apply "t00010=0x0110:$(g 1)" "$b") || fail "after the thaw: $out"
say "a frozen subnet manager is unknown"

# A node moves from A to B: two files, and it has left before it enters.
out=$(drive apply "t00010=0x0110:$(g 1)" "t00011=0x0111:$(g 2),$(g 3),$(g 4)") || fail "move: $out"
carries 2 0x8111 && ! carries 2 0x8110 || fail "the moved port"

# A monitor that remembers too long puts the GUID back; the next turn takes it out again.
echo "t00010=0x0110 : $(g 2)=full ;" >>partitions.conf
kill -HUP "$(cat opensm.pid)"
for _ in $(seq 100); do carries 2 0x8110 && break; sleep 0.02; done
carries 2 0x8110 || fail "the stale member was not planted"
drive read | grep -q '^unclear.*second time' || fail "the second definition is not named"
out=$(drive apply "t00010=0x0110:$(g 1)" "t00011=0x0111:$(g 2),$(g 3),$(g 4)") || fail "stale: $out"
carries 2 0x8110 && fail "the stale member stays"
say "a stale member is taken out again"

# A planted bad file: the canary says no. So does the driver before the canary, and nothing moves.
printf 'Default=0x7fff : ALL=limited, SELF=full ;\nt00010=0x0110 : 0xzz=full ;\n' >bad.conf
"$driver" canary bad.conf >bad.out 2>/dev/null; rc=$?
grep -q 'bad PortGUID' bad.out && [ $rc -eq 3 ] || fail "canary on a bad GUID: $(cat bad.out)"
printf 'Default=0x7fff : ALL=full ;\nt00010=0x0110 : %s=full ;\n' "$(g 1)" >bad.conf
"$driver" canary bad.conf >bad.out 2>/dev/null; rc=$?
grep -q 'full member of the default' bad.out && [ $rc -eq 3 ] || fail "canary on ALL=full: $(cat bad.out)"
cp partitions.conf whole.conf
for guid in 0xzz 'ALL' '0x20011;' '' "$(g 1)
evil=0x7fff : ALL=full ;"; do
  drive apply "t00010=0x0110:$guid=full" >bad.out
  grep -q 'is no port GUID' bad.out || fail "hostile GUID $guid: $(cat bad.out)"
  cmp -s whole.conf partitions.conf || fail "a hostile GUID changed the file"
done
out=$(drive apply "t00010=0x0110:$(g 1)" "t00011=0x0111:$(g 2),$(g 3),$(g 4)") || fail "again: $out"
cp partitions.conf whole.conf
echo 'broken line' >>partitions.conf
out=$(drive apply "t00010=0x0110:$(g 5)") && fail "a file with a broken line was taken"
grep -q 'broken line' partitions.conf || fail "the broken line was touched"
cp whole.conf partitions.conf
say "bad lines are refused: $out"

# kill -9 of the driver after each step and in the middle of each: the file is always one that
# opensm takes, whole, and the next driver finishes the change.
kills=0
for k in 1 2 3 4 5 6; do
  for how in "KILL_AFTER=$k" "KILL_IN=$k,$((k * 6))"; do
    cp whole.conf partitions.conf
    # A shell in between keeps the word "Killed" to itself.
    bash -c '"$@"; exit $?' killed env "$how" "$driver" apply "t00010=0x0110:$(g 1),$(g 5)" "$b" \
      >/dev/null 2>&1
    [ $? -eq 137 ] && kills=$((kills + 1))
    "$driver" canary partitions.conf >bad.out 2>/dev/null || fail "$how: $(cat bad.out)"
    drive read | grep -v manager | grep -q '^port.*0xffff' && fail "$how: an open port"
  done
done
out=$(drive apply "t00010=0x0110:$(g 1),$(g 5)" "$b") || fail "after the kills: $out"
carries 5 0x8110 || fail "the change was not finished"
# Likewise in the three steps of a change that only takes away.
for how in KILL_AFTER=1 KILL_AFTER=2 KILL_IN=2,4 KILL_IN=2,12 KILL_IN=3,20; do
  drive apply "t00010=0x0110:$(g 1),$(g 5)" "$b" >/dev/null || fail "joining again"
  bash -c '"$@"; exit $?' killed env "$how" "$driver" apply "t00010=0x0110:$(g 1)" "$b" >/dev/null 2>&1
  [ $? -eq 137 ] && kills=$((kills + 1))
  "$driver" canary partitions.conf >bad.out 2>/dev/null || fail "leaving, $how: $(cat bad.out)"
  out=$(drive apply "t00010=0x0110:$(g 1)" "$b") || fail "leaving after $how: $out"
  carries 5 0x8110 && fail "leaving after $how: the port keeps its PKey"
done
out=$(drive apply "t00010=0x0110:$(g 1),$(g 5)" "$b") || fail "joining at last: $out"
[ $kills -ge 14 ] || fail "only $kills drivers were killed"
say "$kills drivers killed, each file whole"

# A port is unplugged: no fault of the change, and its table is unknown.
echo "Unlink \"H-${hcas[6]}\"[1]" >&3
out=$(drive apply "t00010=0x0110:$(g 1),$(g 6)" "$b") || fail "a port that is down: $out"

out=$("$driver" differ "${DIFFER:-20}") || fail "differ: $out"
say "$out"
grep -q 'retrying with default' osm.log && fail "opensm fell back to its default: nobody was isolated"
[ $failed -eq 0 ] && say "all well"
exit $failed

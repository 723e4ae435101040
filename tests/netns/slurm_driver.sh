#!/bin/bash
# Goal: the shipped Slurm code runs a real cluster through a fault. Method: a controller, a login
# node and three nodes, each in namespaces of its own; every line of configuration comes from the
# engine item, every daemon from the agent's functions. Needs root. Leaves nothing behind.
# Usage: slurm_driver.sh DRIVER   (tests/netns/slurm_driver.cpp, linked with families and runtime)
set -u
driver=$(readlink -f "${1:?path of slurm_driver}")
work=$(mktemp -d /tmp/slurm-smoke.XXXXXX)
chmod 755 "$work"
cp "$driver" "$work/driver"
declare -A pid
failed=0
started=$(date +%s%N)

say() { printf '%6d ms  %s\n' $((($(date +%s%N) - started) / 1000000)) "$*"; }
fail() { say "FAIL $*"; failed=1; }
on() { local node=$1; shift; nsenter --target "${pid[$node]}" --all -- "$@"; }
drive() { local node=$1; shift; on "$node" "$work/driver" "$@" 2>&1; }

clean_up() {
  local node
  for node in "${!pid[@]}"; do kill -9 "${pid[$node]}" 2>/dev/null; done
  wait 2>/dev/null
  rm -rf "$work"
}
trap clean_up EXIT

# Process 1 of a namespace: private /run, /dev, /tmp; /etc and /var as overlays in memory.
cat >"$work/init.sh" <<'INIT'
hostname "$1"
mount -t tmpfs tmpfs /mnt
for folder in etc var; do
  mkdir -p /mnt/$folder.up /mnt/$folder.work
  mount -t overlay -o lowerdir=/$folder,upperdir=/mnt/$folder.up,workdir=/mnt/$folder.work \
    overlay /$folder
done
mount -t tmpfs -o mode=755 tmpfs /run
mount -t tmpfs -o mode=755 tmpfs /mnt/ 2>/dev/null
mount -t tmpfs -o mode=755 tmpfs /dev
mkdir -m 1777 /dev/shm
mknod -m 666 /dev/null c 1 3; mknod -m 666 /dev/zero c 1 5; mknod -m 666 /dev/full c 1 7
mknod -m 666 /dev/random c 1 8; mknod -m 666 /dev/urandom c 1 9; mknod -m 666 /dev/tty c 5 0
for i in 0 1 2 3 4 5 6 7; do mknod -m 666 /dev/nvidia$i c 195 $i; done
echo "$1" >/etc/hostname
printf '127.0.0.1 localhost\n10.77.0.1 acme-train-ctl\n' >/etc/hosts
if [ "$1" != service ]; then
  echo 'alice:x:20001:20001::/:/bin/sh' >>/etc/passwd
  echo 'alice:x:20001:' >>/etc/group
fi
ip link set lo up
touch "$2/$1.up"
trap exit TERM
while :; do sleep 1; done
INIT

start_node() {
  unshare --net --mount --uts --pid --ipc --fork --mount-proc --propagation private \
    bash "$work/init.sh" "$1" "$work" >"$work/$1.log" 2>&1 </dev/null &
  local parent=$!
  until [ -e "$work/$1.up" ]; do sleep 0.02; done
  pid[$1]=$(cat /proc/$parent/task/$parent/children | tr -d ' ')
}

link_node() {  # node address
  local peer=hs-$1
  # Not by `on`: inside the service node's pid namespace the other node has no number.
  nsenter --target "${pid[service]}" --net -- \
    ip link add name "$peer" type veth peer name eth0 netns "${pid[$1]}"
  on service ip link set "$peer" master br0 up
  on "$1" ip addr add "$2/24" dev eth0
  on "$1" ip link set eth0 up
}

# With KEEP_RAW=folder the transcripts that tests/data/slurm holds are recorded anew.
record() {  # name
  [ -z "${KEEP_RAW:-}" ] && return
  local conf=SLURM_CONF=/etc/slurm/acme-train/slurm.conf
  drive service raw | head -c -1 >"$KEEP_RAW/observe_22_05_$1.txt"
  on service env $conf TZ=UTC sinfo --json >"$KEEP_RAW/sinfo_22_05_$1.json" 2>/dev/null
  on service env $conf TZ=UTC squeue --json >"$KEEP_RAW/squeue_22_05_$1.json" 2>/dev/null
}

wait_for() {  # seconds text command..: until the output has the text
  local end=$(($(date +%s%N) + $1 * 1000000000)) text=$2
  shift 2
  while ! "$@" 2>&1 | grep -Eq "$text"; do
    [ "$(date +%s%N)" -gt "$end" ] && return 1
    sleep 0.1
  done
}

for node in service login n01 n02 n03; do start_node $node; done
on service ip link add br0 type bridge
on service ip addr add 10.77.0.1/24 dev br0
on service ip link set br0 up
link_node login 10.77.0.20; link_node n01 10.77.0.11
link_node n02 10.77.0.12; link_node n03 10.77.0.13
say "namespaces up"

drive service controller || {
  fail "controller"
  on service bash -c 'tail -20 /var/log/tundish/*/*'
  exit 1
}
say "controller set up"
for node in n01 n02 n03; do drive $node node $node || fail "$node"; done
drive login login || fail login
say "nodes started"
wait_for 20 'node n03 .*registered' drive service observe || fail "n03 never registered"
wait_for 20 'node n01 .*IDLE.* registered' drive service observe || fail "n01 is not idle"
say "all nodes idle"
drive service step || fail step
drive service step || fail step
drive service observe
drive service controller | grep -q 'runs already' || fail "a repeat touched the controller"
drive n01 node n01 | grep -q 'runs already' || fail "a repeat touched the node"
say "repeats left the daemons alone"

as_alice() { on login setpriv --reuid=20001 --regid=20001 --clear-groups -- "$@"; }
as_alice sbatch -D /tmp --output=/dev/null --job-name=$'a\n1|x' --requeue --nodes=1 \
  --gpus-per-node=8 --wrap 'env >/tmp/alice.env; exec sleep 300' || fail sbatch
submitted=$(date +%s%N)
wait_for 20 'job 1 alice RUNNING' drive service observe || fail "the job does not run"
say "job runs ($((($(date +%s%N) - submitted) / 1000000)) ms after submission)"
drive service observe | grep '^job'
sleep 0.5
grep CUDA_VISIBLE_DEVICES /tmp/alice.env || fail "no GPUs in the job's environment"
rm -f /tmp/alice.env
where=$(drive service observe | sed -n 's/^job 1 alice RUNNING \([^ ]*\) .*/\1/p')
other=n01; [ "$where" = n01 ] && other=n02

as_alice scancel 1
wait_for 20 "node n01 IDLE registered" drive service observe || fail "n01 is not idle again"
wait_for 20 "node n02 IDLE registered" drive service observe || fail "n02 is not idle again"

# Active checks: a job of ours holds a node, and gives way to the tenant's work.
drive service observe | grep -q '^checks  preempted' || fail "the controller cannot preempt"
drive service step checks || fail "the partition of checks"
wait_for 20 '^checks n01,n02 preempted' drive service observe || fail "no partition of checks"
drive service step checks | grep -q '^0 commands' || fail "the partition is made twice"
holds() { # a check on n01; its output is in $work/held
  drive n01 hold n01 "$@" >"$work/held" &
  wait_for 20 'holds the node' cat "$work/held" || fail "no check on n01: $(cat "$work/held")"
}
user_job() { # nodes: from submission to start in ms
  rm -f /tmp/alice.start
  local begin
  begin=$(date +%s%N)
  as_alice sbatch -D /tmp --output=/dev/null --nodes="$1" --gpus-per-node=8 \
    --wrap 'date +%s%N >/tmp/alice.start; sleep 0.2' >/dev/null || fail sbatch
  wait_for 20 '^[0-9]+$' cat /tmp/alice.start || fail "the tenant's job does not start"
  waited=$((($(cat /tmp/alice.start) - begin) / 1000000))
  rm -f /tmp/alice.start
}
user_job 2
alone=$waited
holds
drive service observe | grep '^job'
user_job 2
wait_for 20 'Slurm ended job .*: PREEMPTED' cat "$work/held" || fail "not preempted: $(cat "$work/held")"
say "the tenant's job started after $alone ms on idle nodes, after $waited ms in place of a check"
# A check would hold the node for minutes; how many milliseconds it takes is said above.
((waited < 3000 * ${TUNDISH_PATIENCE:-3})) || fail "the tenant waited for a check"
wait_for 20 "node n01 IDLE registered" drive service observe
holds
as_alice scancel "$(sed -n 's/^job \([0-9]*\) holds.*/\1/p' "$work/held")" || fail "the tenant may not cancel a check"
wait_for 20 'Slurm ended job .*: CANCELLED' cat "$work/held" || fail "not cancelled: $(cat "$work/held")"
wait_for 20 "node n01 IDLE registered" drive service observe
holds failed
wait_for 20 'tundish-check .*FAILED' as_alice sacct -n -X -a -o Account%20,State ||
  fail "the tenant does not see what a check found"
as_alice sacct -n -X -a -o JobID,User,Account%20,State,AllocTRES%40
drive service step || fail "taking the partition away"
wait_for 20 '^checks  preempted' drive service observe || fail "the partition stays"
say "checks gave way, and were billed to nobody"
as_alice sbatch -D /tmp --output=/dev/null --job-name=$'a\n1|x' --requeue --nodes=1 \
  --gpus-per-node=8 --wrap 'sleep 300' || fail sbatch
wait_for 20 'alice RUNNING' drive service observe || fail "the job does not run"
job=$(drive service observe | awk '$1 == "job" && $4 == "RUNNING" {print $2; exit}')
where=$(drive service observe | sed -n "s/^job $job alice RUNNING \([^ ]*\) .*/\1/p")
other=n01; [ "$where" = n01 ] && other=n02

fault=$(date +%s%N)
drive service step members=$other,n03 drained=$other lost=$where || fail "fault step"
say "drained and requeued"
record requeued
until_ns=$(($(date +%s%N) + 30 * 1000000000))
while (($(date +%s%N) < until_ns)); do
  drive service step members=$other,n03 drained=$other lost=$where | grep -v '^0 commands'
  drive service observe | grep -q "job $job alice RUNNING n03" && break
  sleep 0.2
done
drive service observe | grep -q "job $job alice RUNNING n03" || fail "no job on the spare"
say "job runs on the spare $((($(date +%s%N) - fault) / 1000000)) ms after the fault"

on service env SLURM_CONF=/etc/slurm/acme-train/slurm.conf \
  scontrol update nodename=n03 state=drain reason="disk is loud"
drive service step members=$other,n03 drained=$other lost=$where
drive service observe | grep -q 'n03 .*DRAIN.*disk is loud' || fail "a person's drain was touched"
record held
drive service step members=$where,n03
wait_for 20 "node $where IDLE registered.*reason=\$" drive service observe || fail "no return"
say "our drain was cleared, a person's was not"
drive service step members=$where,n03 gone=$where
drive service observe | grep -Eq "node $where DOWN.DRAIN" || fail "a node that is gone is not down"
record gone
drive service step members=$where,n03
wait_for 20 "node $where IDLE registered.*reason=\$" drive service observe || fail "no return"
say "gone and back"
drive service step members=$where,n03 extra=n05 || fail "declaring a node"
wait_for 20 'node n05' drive service observe || fail "n05 is not declared"
wait_for 20 "job $job alice RUNNING n03" drive service observe || fail "the restart lost the job"
say "one node more, controller restarted, job goes on"
on service bash -c 'kill -9 $(cat /run/slurm-acme-train/slurmctld.pid)'
sleep 0.2
drive service observe | grep -q 'does not answer' || fail "a dead controller is not reported"
drive service controller members=$where,n03 extra=n05 || fail "set-up after kill -9"
wait_for 20 "job $job alice RUNNING n03" drive service observe || fail "kill -9 lost the job"
say "controller killed and set up again"
drive service add-user || fail "adding a user"
drive service observe
as_alice scancel "$job"
wait_for 20 'CANCELLED' as_alice sacct -n -X -j "$job" -o JobID,User,Account,State,NodeList ||
  fail "sacct does not show the end"
as_alice sacct -n -X -D -j "$job" -o JobID,User,Account,State,NodeList,AllocTRES%60
as_alice sinfo
for node in n01 n02 n03; do drive $node stop-node; done
on n03 ps -e -o args= | grep -E '^(slurm|munge|sleep 300)' && fail "processes left on n03"
drive service stop-controller
on service ps -e -o args= | grep -E '^(slurm|munge|mariadb)' && fail "processes left on service"
say "stopped"
[ $failed = 0 ] && say PASS
exit $failed

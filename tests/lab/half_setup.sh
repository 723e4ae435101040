# A cluster is deleted while its controller is only half set up, at every stage of that, also with
# the agent or tundishd killed there: nothing of it stays on the service node, and its name is free.
# slow
source "$(dirname "$0")/lib/common.bash"

lab_up --nodes 2
import_site
tenant acme alice 64

# What a controller's set-up leaves behind, in its order; looked for inside the service node.
declare -A stage=(
  [place]='ls -d /run/netns/tundish-train-*'
  [folders]='ls /etc/slurm/train-*'
  [munge]='pgrep -x munged'
  [database]='pgrep -x mariadbd'
  [accounting]='pgrep -x slurmdbd'
  [controller]='pgrep -x slurmctld'
)
reached() { # STAGE: looks closely, as the stages follow within milliseconds
  on svc01 timeout 40 sh -c "until ${stage[$1]} >/dev/null 2>&1; do sleep 0.01; done"
}
left() { # one line for each thing of a cluster that is still on the service node
  on svc01 sh -c '
    ps -eo stat=,comm= | grep -v ^Z | grep -oE "(munged|slurmctld|slurmdbd|slurmd|mariadbd)$"
    for path in /etc/slurm/*/slurm.conf /etc/slurm/train* /run/munge-* /run/slurm-* \
      /var/lib/tundish/slurm/*; do
      [ ! -e "$path" ] || echo "$path"
    done
    grep -n train /etc/hosts
    ip -4 -o addr show scope global | awk "\$2 ~ /^eth/ {print \$2, \$4}"
    ls /run/netns 2>/dev/null
    ip -o link show | grep -c ": eth" | grep -vx 8
    true'
}
# After a restart of tundishd a node is free again when it was heard.
free() { [[ $(tundish capacity -o json | jq '.[] | select(.sku == "hgx-h100").free') == 2 ]]; }
gone() { ! tundish cluster show train; }
idle() { [[ $(nodes_json | jq '[.[] | select(.status.phase != "ready")] | length') == 0 ]]; }

begin() { exits 0 tundish cluster create train --tenant acme --engine slurm --nodes 1 --no-login \
  >/dev/null; }
round() { # STAGE [agent | tundishd]: killed there, before the delete
  begin
  reached "$1" || fail "$1 was never reached"
  case ${2:-} in
    agent) lab_post /agent '{"node":"svc01","action":"kill"}' ;;
    tundishd) restart_daemon ;;
  esac
  local phase
  phase=$(cluster_phase train)
  [[ $phase != active ]] || fail "it was active before it could be deleted at $1"
  exits 0 tundish cluster delete train --yes >/dev/null
  await 90 "deleted at $1 while ${phase}${2:+, $2 killed}: it is gone" gone
  equal "left of it on the service node" "$(left)" ""
  await 60 "its node is ready" idle
  await 30 "both nodes may be had" free
  equal "allocations" "$(tundish allocation list -o json | jq length)" 0
}

equal "before" "$(left)" ""
for name in place folders munge database accounting controller; do round $name; done
round place agent
round munge agent
round accounting agent
round database tundishd
round controller tundishd

# The name serves as if nothing had been.
create train acme 2 0
equal "nodes that Slurm sees idle" "$(slurm train sinfo -h -o %D -t idle)" 2
job=$(ring train acme alice 2 100000) || fail "sbatch"
await 30 "a job makes steps" steps_pass 5 acme alice
equal "controllers on the service node" "$(on svc01 pgrep -c -x slurmctld)" 1
exits 0 tundish cluster delete train --yes >/dev/null
await 90 "it is gone" gone
equal "left of it on the service node" "$(left)" ""
equal "incidents" "$(all_incidents)" 0
history_intact

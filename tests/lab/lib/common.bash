# Shared by tests/lab/*.sh: a lab of the test's own, the command line, Slurm, waiting, judging.
# Needs tundish in PATH (`./dev test` puts build/dev/bin there). State of the lab is in $WORK, which
# goes away with it; after a failure the lab's logs are kept in build/log/lab-TEST.
set -u -o pipefail

TREE=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
TEST=$(basename "$0" .sh)
WORK=$(mktemp -d "/tmp/tundish-$TEST-XXXXXX")
LAB=t-${TEST//[^a-z0-9]/-}-$$
ROOT=$WORK/lab
export XDG_CONFIG_HOME=$WORK/config TERM=dumb
unset TUNDISH_API TUNDISH_TOKEN
MOUNTS=()   # unmounted at the end
CHILDREN=() # ended at the end
trap 'cleanup' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

say() { printf '[%3d s] %s\n' "$SECONDS" "$*"; }
fail() { printf 'FAIL: %s\n' "$*" >&2; exit 1; }

cleanup() {
  local code=$? child path
  trap - EXIT
  trap '' INT TERM HUP
  for child in "${CHILDREN[@]}"; do kill "$child" 2>/dev/null; done
  if ((code != 0)) && [[ -d $ROOT/log ]]; then
    local kept=$TREE/build/log/lab-$TEST
    rm -rf "$kept"
    mkdir -p "$kept" && cp -r "$ROOT/log" "$ROOT/tundishd.yaml" "$kept/"
    (cd "$ROOT/nodes" && # of the daemons in the nodes: Slurm, munge, sshd
      find . -path '*/var/log/tundish/*.log' -exec cp --parents {} "$kept" \; ) 2>/dev/null
    { tundish incident list -o json; tundish node list -o json; tundish cluster list -o json
      tundish allocation list -o json; tundish claim list -o json; } >"$kept/objects.json" 2>&1
    tundish history export >"$kept/history.jsonl" 2>/dev/null
    for path in $(tundish cluster list -o json 2>/dev/null | jq -r '.[].meta.name'); do
      slurm "$path" sh -c 'squeue; scontrol show job; scontrol show node -o; sinfo -N -l'
      tundish network show "$path"
    done >"$kept/slurm.txt" 2>&1
    echo "logs of the lab: $kept" >&2
  fi
  if [[ -d $ROOT ]]; then tundish lab down --lab "$ROOT" >/dev/null 2>&1 || code=${code/#0/1}; fi
  for path in "${MOUNTS[@]}"; do umount -l "$path" 2>/dev/null; done
  rm -rf "$WORK"
  ((code == 0)) && say "ok: $TEST"
  exit "$code"
}

# await SECONDS WHAT COMMAND...: polls until COMMAND succeeds; fails the test at the deadline. SECONDS
# is what a machine of its own takes at most; a busy one gets PATIENCE times as long. What is judged
# by its speed says so itself; this only decides when to give up.
PATIENCE=${TUNDISH_PATIENCE:-3}
await() {
  local limit=$(($1 * PATIENCE)) what=$2 end
  shift 2
  end=$((SECONDS + limit))
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < end)) || fail "not within $limit s: $what ($*)"
    sleep 0.3
  done
  say "$what"
}
# never SECONDS WHAT COMMAND...: COMMAND must not succeed once during that time.
never() {
  local limit=$1 what=$2 end
  shift 2
  end=$((SECONDS + limit))
  while ((SECONDS < end)); do
    ! "$@" >/dev/null 2>&1 || fail "$what ($*)"
    sleep 0.3
  done
  say "not within $limit s: $what"
}
# equal WHAT GOT WANTED
equal() {
  [[ $2 == "$3" ]] || fail "$1: got '$2', expected '$3'"
  say "$1: ${2:-nothing}"
}
# differs WHAT GOT UNWANTED
differs() { [[ $2 != "$3" ]] || fail "$1: got '$2'"; }
# has WHAT TEXT PART: TEXT contains PART
has() {
  [[ $2 == *"$3"* ]] || fail "$1: '$3' is not in: $2"
  say "$1"
}
# is COMMAND... = WORD: the output of a command, for await and never
is() {
  local wanted=${!#}
  [[ $("${@:1:$#-2}") == "$wanted" ]]
}
# exits CODE COMMAND...: what it printed, both streams; fails with another exit status
exits() {
  local wanted=$1 text code=0
  shift
  text=$("$@" 2>&1) || code=$?
  [[ $code == "$wanted" ]] || fail "exit $code, expected $wanted: $* : $text"
  printf '%s\n' "$text"
}

# ---- the lab ----------------------------------------------------------------------------------
lab_up() { # [flags of `tundish lab up`]; one rack, 4 nodes and one login node without them
  NODES=4 RACKS=1 LOGINS=1 FABRIC=flat TRAYS=0
  while (($#)); do
    case $1 in
      --nodes) NODES=$2 ;;
      --racks) RACKS=$2 ;;
      --login-nodes) LOGINS=$2 ;;
      --fabric) FABRIC=$2 ;;
      --domain-trays) TRAYS=$2 ;;
      *) fail "lab_up does not know $1" ;;
    esac
    shift 2
  done
  tundish lab up --name "$LAB" --root "$ROOT" --nodes "$NODES" --racks "$RACKS" \
    --login-nodes "$LOGINS" --fabric "$FABRIC" --domain-trays "$TRAYS" >"$WORK/up.log" 2>&1 ||
    fail "lab up: $(cat "$WORK/up.log")"
  write_sheets "$WORK/site"
  say "lab $LAB is up"
}
write_sheets() { # FOLDER: the inventory of this lab as the operator's sheets
  mkdir -p "$1"
  python3 "$TREE/tests/lab/lib/sheets.py" "$1" "$LAB" "$NODES" "$RACKS" "$LOGINS" "$FABRIC" \
    "$TRAYS"
}
import_site() { # and waits until every node is ready
  exits 0 tundish inventory import "$WORK"/site/*.csv >/dev/null
  await 40 "every node is ready" all_ready
}
all_ready() {
  [[ $(nodes_json | jq -r 'map(select(.status.phase != "ready")) | length') == 0 ]]
}
lab_get() { curl -sS --fail-with-body --unix-socket "$ROOT/run/lab.sock" "http://lab$1"; }
lab_post() { # PATH JSON
  curl -sS --fail-with-body --unix-socket "$ROOT/run/lab.sock" -X POST -d "$2" "http://lab$1" \
    >"$WORK/post.out" || fail "lab $1 $2: $(cat "$WORK/post.out")"
}
boots() { lab_get /status | jq -r --arg n "$1" '.nodes[] | select(.name == $n).boots'; }
daemon_starts() { lab_get /status | jq -r .daemon_starts; }
daemon() { lab_post /daemon "{\"action\":\"$1\"}"; }
daemon_answers() { tundish status; }
restart_daemon() {
  daemon kill
  await 15 "tundishd is back after SIGKILL" daemon_answers
}
all_heard() { [[ $(tundish status -o json | jq '.agents_heard == .nodes') == true ]]; }
on() { # NODE COMMAND...: as root inside a node
  local node=$1
  shift
  tundish lab exec --lab "$ROOT" "$node" -- "$@"
}
api() { # METHOD PATH [BODY]: prints the body; the status is in $WORK/code
  local token=${TOKEN:-$(cat "$ROOT/secrets/operator.token")} body=()
  (($# < 3)) || body=(-H "Content-Type: application/json" -d "$3")
  curl -sS --unix-socket "$ROOT/run/tundishd.sock" -X "$1" -H "Authorization: Bearer $token" \
    -o "$WORK/body" -w '%{http_code}' "${body[@]}" "http://t$2" >"$WORK/code"
  cat "$WORK/body"
}

# ---- objects ----------------------------------------------------------------------------------
nodes_json() { tundish node list -o json; }
node_id() { nodes_json | jq -r --arg n "$1" '.[] | select(.meta.name == $n).id'; }
node_phase() { nodes_json | jq -r --arg n "$1" '.[] | select(.meta.name == $n).status.phase'; }
members() { # CLUSTER ROLE: names, sorted, one line
  # By the pipe: one argument holds no more than 128 KiB.
  { nodes_json && tundish allocation show "$1" -o json; } | jq -rs --arg r "$2" '.[0] as $nodes |
    [.[1].status.nodes[] | select(.role == $r).node] as $held |
    [$nodes[] | select(.id as $i | $held | index($i)) | .meta.name] | sort | join(" ")'
}
cluster_phase() { tundish cluster show "$1" -o json | jq -r .status.phase; }
incidents() { # NODE: all of the node, oldest first, as an array
  tundish incident list -o json | jq --arg n "$(node_id "$1")" \
    '[.[] | select(.node == $n)] | sort_by(.opened_at)'
}
incident_count() { incidents "$1" | jq length; }
incident_state() { incidents "$1" | jq -r '.[-1].state // "none"'; }
incident_id() { incidents "$1" | jq -r '.[-1].id'; }
active_claims() { # NODE
  tundish claim list -o json | jq --arg n "$(node_id "$1")" \
    '[.[] | select(.node == $n and .state == "active")] | length'
}
all_incidents() { tundish incident list -o json | jq length; }
node_incidents() { tundish incident list -o json | jq '[.[] | select(.node != "")] | length'; }
acts() { # NODE: names of what the last incident did, one line
  incidents "$1" | jq -r '.[-1].timeline | map(.what) | join(" ")'
}
# pace PERCENT NODE...: the agents' checks look so much more often than once a minute
pace() {
  local percent=$1 node
  shift
  for node in "$@"; do
    on "$node" sh -c "echo 'check_pace_percent: $percent' >>/etc/tundish/agent.yaml" ||
      fail "pace of $node"
    lab_post /agent "{\"node\":\"$node\",\"action\":\"kill\"}"
  done
  await 30 "agents are back with a pace of $percent %" all_heard
}
# What the checks find and what is open, one line each: nothing on a healthy site.
ills() {
  nodes_json | jq -r '.[] | .meta.name as $n | .status.verdicts[] |
    select(.state == "fail" or .state == "warn") | "\($n) \(.check) \(.device) \(.reason)"'
  tundish incident list -o json | jq -r '.[] | select(.state == "open") |
    "incident \(.subject) \(.fault): \(.blame)"'
}
all_judged() { # every node was judged in its boot
  [[ $(nodes_json | jq '[.[] | select(.status.verdicts_boot == .status.boot_id)] | length') == \
    "$(nodes_json | jq length)" ]]
}
inject() { exits 0 tundish fault inject "$@" >/dev/null; }
history_intact() { exits 0 tundish history verify >/dev/null && say "the history verifies"; }

# ---- tenants, clusters, jobs ------------------------------------------------------------------
tenant() { # TENANT USER GPUS
  exits 0 tundish tenant create "$1" --gpus "$3" >/dev/null
  ssh-keygen -q -t ed25519 -N '' -f "$WORK/$2"
  exits 0 tundish user create "$2" --tenant "$1" --ssh-key "$WORK/$2.pub" >/dev/null
}
create() { # CLUSTER TENANT NODES SPARES [flags]
  exits 0 tundish cluster create "$1" --tenant "$2" --engine slurm --nodes "$3" --spares "$4" \
    --wait --timeout 90s "${@:5}" >/dev/null
  say "cluster $1 is active: $(members "$1" member), spare $(members "$1" spare)"
}
slurm() { # CLUSTER COMMAND...: Slurm's own tools, on the controller
  local cluster=$1
  shift
  # The folder carries the cluster's number: two tenants may choose one name. The controller lives in
  # a network of its own.
  on svc01 sh -c 'SLURM_CONF=$(ls -d /etc/slurm/'"$cluster"'-[0-9]*/slurm.conf)
    export SLURM_CONF
    name=$(basename "$(dirname "$SLURM_CONF")")
    exec nsenter --net=/run/netns/tundish-$name -- "$@"' sh "$@"
}
controller_of() { # CLUSTER: address of its controller
  tundish allocation show "$1" -o json |
    jq -r '.status.nodes[] | select(.role == "controller").address'
}
listens() { # CLUSTER: TCP port of its slurmctld
  on svc01 sh -c 'sed -n "s/^SlurmctldPort=//p" /etc/slurm/'"$1"'-*/slurm.conf'
}
reaches() { # NODE ADDRESS PORT
  on "$1" timeout 3 bash -c "exec 3<>/dev/tcp/$2/$3" 2>/dev/null
}
no_way_through() { # MINE THEIRS: a member of MINE tries the controller of THEIRS by way of its own
  local member own other
  member=$(members "$1" member | awk '{print $1}')
  own=$(controller_of "$1") other=$(controller_of "$2")
  reaches "$member" "$own" "$(listens "$1")" || fail "$member does not reach its controller $own"
  on "$member" ip route add "$other/32" via "$own" || fail "the route of an intruder"
  if reaches "$member" "$other" "$(listens "$2")"; then fail "$member reaches the controller of $2"; fi
  on "$member" ip route del "$other/32"
  say "no way from $1 through the service node to $2"
}
login() { # CLUSTER USER COMMAND: as the user on the login node, by ssh
  tundish cluster exec "$1" --user "$2" --identity "$WORK/$2" -- "$3"
}
ring() { # CLUSTER TENANT USER NODES STEPS [FOLDER]: submits the ring job, prints its id
  local cluster=$1 tenant=$2 user=$3 nodes=$4 steps=$5 folder=${6:-ring}
  login "$cluster" "$user" "mkdir -p /data/$user/$folder && cat >/data/$user/$folder/ring.py" \
    <"$TREE/examples/jobs/ring.py" || return 1
  login "$cluster" "$user" "cat >/data/$user/$folder/ring.sbatch && cd /data/$user/$folder &&
    sbatch --parsable -N$nodes ring.sbatch /data/$user/$folder $steps" \
    <"$TREE/examples/jobs/ring.sbatch"
}
steps_file() { echo "$ROOT/storage/$1/$2/${3:-ring}/steps.jsonl"; } # TENANT USER [FOLDER]
step_count() { wc -l 2>/dev/null <"$(steps_file "$@")" || echo 0; }
steps_pass() { (($(step_count "${@:2}") > $1)); } # MORE-THAN TENANT USER [FOLDER]
last_step() { tail -n 1 "$(steps_file "$@")"; }
job_field() { # CLUSTER JOB FIELD: of scontrol show job
  slurm "$1" scontrol show job -o "$2" | tr ' ' '\n' | sed -n "s/^$3=//p"
}
# CLUSTER NODE: also of nodes that no partition lists
node_state() { slurm "$1" scontrol show node -o "$2" | grep -o 'State=[^ ]*'; }
node_reason() { slurm "$1" scontrol show node -o "$2" | grep -o 'Reason=.*' || true; }
runs_on() { # TENANT USER NODE [FOLDER]: the newest step was made with this node
  last_step "$1" "$2" ${4:+"$4"} | jq -e --arg n "$3" '.nodes | index($n)'
}
sums_right() { # TENANT USER NODES [FOLDER]
  local bad
  bad=$(jq -s --argjson n "$3" '
    map(select(.sum != ($n * ($n + 1) / 2) * (.step + 1) or .ranks != $n or .gpus != 8)) | length' \
    "$(steps_file "$1" "$2" ${4:+"$4"})")
  [[ $bad == 0 ]] || fail "$bad steps have a wrong sum"
  say "every sum of the ranks is right"
}
no_gap() { # TENANT USER [FOLDER]: no step is missing up to the last
  jq -es '[.[].step] | unique | . == [range(0; (max + 1))]' "$(steps_file "$@")" >/dev/null ||
    fail "steps are missing"
  say "no step is missing"
}
runs_without() { # TENANT USER NODE RESTARTS: steps are made after that many restarts, not there
  last_step "$1" "$2" |
    jq -e --arg n "$3" --argjson r "$4" '.restart == $r and (.nodes | index($n) == null)'
}

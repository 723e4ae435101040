# Storage whose server is slow: each client's check says so as a warning, nobody loses a node, and
# it ends with the cause.
# slow
source "$(dirname "$0")/lib/common.bash"
source "$(dirname "$0")/lib/blame.bash"

lab_up --nodes 3 --fabric frr
import_site
tenant acme alice 32
create train acme 2 0
read -r -a nodes <<<"$(members train member)"
pace 10 "${nodes[@]}"
await 60 "every node was judged in its boot" all_judged
equal "what is found while all is well" "$(ills)" ""
watch_claims
verdict() { # NODE CHECK: its state, ok when none is kept
  nodes_json | jq -r --arg n "$1" --arg c "$2" '[.[] | select(.meta.name == $n).status.verdicts[] |
    select(.check == $c).state][0] // "ok"'
}
inject --node "${nodes[0]}" --kind storage_slow --for 20m
# Two looks in a row must take long: how many requests fit between two pauses is chance.
for node in "${nodes[@]}"; do
  await 240 "$node says that its storage is slow" is verdict "$node" storage_latency = warn
done
storage mend
for node in "${nodes[@]}"; do
  await 90 "$node says that it is over" is verdict "$node" storage_latency = ok
done
is_slow() {
  [[ $(verdict "${nodes[0]}" storage_latency)$(verdict "${nodes[1]}" storage_latency) == *warn* ]]
}
never 30 "slow though its server is well" is_slow
unclaimed "storage that is slow"
history_intact

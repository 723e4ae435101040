# Passive checks of whole lab nodes: nothing is found on a healthy one, what the lab cannot show is
# unknown with its reason, what breaks is told by itself and by `check run`, and ends with the cause.
source "$(dirname "$0")/lib/common.bash"

lab_up --nodes 2 --login-nodes 1
import_site

judged() {
  [[ $(nodes_json | jq '[.[] | select(.status.verdicts_boot == .status.boot_id)] | length') == \
    "$(nodes_json | jq length)" ]]
}
bad() { # what is not ok and not unknown, on all nodes
  nodes_json | jq -r '.[] | .meta.name as $n | .status.verdicts[] |
    select(.state == "fail" or .state == "warn") | "\($n) \(.check) \(.device) \(.reason)"'
}
verdict() { # NODE CHECK: its state, ok when none is kept
  nodes_json | jq -r --arg n "$1" --arg c "$2" '[.[] | select(.meta.name == $n).status.verdicts[] |
    select(.check == $c).state][0] // "ok"'
}
await 60 "every node was judged in its boot" judged
equal "what the checks find on healthy nodes" "$(bad)" ""
unreasoned() { nodes_json | jq '[.[].status.verdicts[] | select(.reason == "")] | length'; }
equal "verdicts without a reason" "$(unreasoned)" 0
first=$(nodes_json | jq -r '[.[] | select(.spec.role == "gpu").meta.name][0]')

# What there is.
has "the list" "$(tundish check list)" "nvlink_state"
has "one check says where its limit comes from" "$(tundish check show ecc_rate)" "NVSentinel #1748"
exits 3 tundish check show no_such_check >/dev/null
exits 0 tundish check lint "$TREE/catalog" >/dev/null

# Running them now.
exits 0 tundish check run "$first" --check ecc --check gpu_count >/dev/null
exits 4 tundish check run "$first" --check dram_ecc >/dev/null
exits 3 tundish check run "$first" --check no_such_check >/dev/null
report=$(tundish check run "$first" -o json)
equal "checks that fail on a healthy node" \
  "$(jq -r '.verdicts[] | select(.state == "fail").check' <<<"$report")" ""
differs "number of checks that ran" "$(jq '.verdicts | length' <<<"$report")" 0

# Somebody breaks a link of one GPU: no XID, only the counters and states show it.
state=$ROOT/nodes/$first/hw/nvml.state
cp "$state" "$WORK/nvml.state"
sed '0,/nvlinks=18/s//nvlinks=17/' "$state" >"$state.new" && mv "$state.new" "$state"
has "the run names the GPU and the link" "$(exits 3 tundish check run "$first" --check nvlink_state)" \
  "17 of 18 NVLink links are up"
await 150 "the agent tells it by itself" is verdict "$first" nvlink_state = fail
cp "$WORK/nvml.state" "$state.new" && mv "$state.new" "$state"
await 150 "and that it is over" is verdict "$first" nvlink_state = ok
# slow

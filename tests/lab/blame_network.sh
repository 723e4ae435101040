# Links and adapters: a port of a leaf that flaps is named with its cable; errors that an adapter
# counts after a GPU fault are the GPU's, in one incident.
# slow
source "$(dirname "$0")/lib/common.bash"
source "$(dirname "$0")/lib/blame.bash"

lab_up --nodes 4 --fabric frr
import_site
tenant acme alice 32
create train acme 3 0
read -r -a nodes <<<"$(members train member)"
pace 10 "${nodes[@]}"
await 60 "every node was judged in its boot" all_judged
is_ill() { [[ -n $(ills) ]]; }
never 15 "something is found on a healthy site" is_ill

# A leaf port flaps: the cable is named, the leaf is cleared.
victim=${nodes[1]}
for i in 1 2 3 4; do
  tundish lab cable flap "$victim/eth0" --lab "$ROOT" || fail "flap $i"
  sleep 1
done
await 120 "the link is blamed" blames link switch
subject=$(tundish incident show "$(cat "$WORK/blamed")" -o json | jq -r .subject)
has "it names the leaf's port" "$subject" "leaf"
has "it names the port itself" "$subject" "/swp"
equal "nodes hit" "$(tundish incident show "$(cat "$WORK/blamed")" -o json |
  jq -r '.affected | length')" 1
no_claims || fail "a flap cost a node: $(tundish claim list)"

# A GPU fails, and the adapter of the node counts errors from then on: one incident, and it is the
# GPU. A person holds the repair, which would be over before anybody looked.
victim=${nodes[2]}
counter=$ROOT/nodes/$victim/sysclass/infiniband/mlx5_0/ports/1/counters/port_rcv_errors
[[ -f $counter ]] || fail "no counter: $counter"
exits 0 tundish hold set --scope "node:$victim" --reason "look at it first" >/dev/null
inject --node "$victim" --xid 119 --gpu 0
(for i in $(seq 1 400); do echo $((i * 50000)) >"$counter"; sleep 0.5; done) &
CHILDREN+=($!)
came_first() {
  incidents "$victim" | jq -e '.[-1].blamed | .part == "gpu" and .rule == "came_first" and
    any(.cleared[]; .part == "nic") and any(.evidence[]; .what == "ib_counters")'
}
await 60 "the GPU is blamed for what its adapter counts" came_first
equal "incidents of the node" "$(incident_count "$victim")" 1
kill "${CHILDREN[-1]}"
exits 0 tundish hold release --scope "node:$victim" >/dev/null
await 60 "the GPU is reset and the node is back" is incident_state "$victim" = resolved
equal "incidents of the node" "$(incident_count "$victim")" 1
history_intact

# Whose fault is it that storage does not answer? A server that hangs is the server, for all its
# clients; a node whose CPUs are gone says CPU, though its storage is slow as well; neither takes a
# node out of service.
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
equal "what is found while all is well" "$(ills)" ""
watch_claims

# The server hangs: every client waits, the server is named, nobody is drained.
storage hang
await 90 "the server is blamed" blames storage_server storage
show=$(exits 0 tundish incident show "$(cat "$WORK/blamed")")
has "it names the server" "$show" "storage server 10.200.0.10 of access"
has "it says on what evidence" "$show" "evidence"
has "it says what was cleared" "$show" "cleared"
has "it says what would change its mind" "$show" "would change that"
explained=$(exits 0 tundish node explain "${nodes[0]}")
has "explain names the incident" "$explained" "takes no node out of service"
for node in "${nodes[@]}"; do
  [[ $(node_state train "$node") != *DRAIN* ]] || fail "$node is drained: $(node_state train "$node")"
done
storage mend
over() { ! blames storage_server storage; }
await 120 "it is over when the server answers" over
unclaimed "a hung server"

# The mirror: storage is slow, and the CPUs of one node are gone.
victim=${nodes[0]}
storage slow
tundish lab hog "$victim" --lab "$ROOT" --tasks 150 --for 150 || fail "hog"
of_victim() { # the machine under a lab may be short of CPU for others as well
  tundish incident list -o json | jq -r --arg n "$victim" '[.[] | select(.state == "open" and
    .blamed.part == "cpu" and .subject == $n and (.blamed.cleared | any(.part == "storage_server")))][0]
    .meta.name // empty' >"$WORK/blamed"
  [[ -s $WORK/blamed ]]
}
await 120 "the CPU is blamed for storage that is late" of_victim
is_starved() { # what the node says of its storage meanwhile is no verdict on it
  nodes_json | jq -e --arg n "$victim" '.[] | select(.meta.name == $n) | .status.verdicts | any(
    (.check | startswith("storage_")) and .state == "unknown" and (.reason | startswith("starved")))'
}
await 60 "a storage check of the node is unknown: starved" is_starved
show=$(exits 0 tundish incident show "$(cat "$WORK/blamed")")
has "it names the node" "$show" "node $victim"
has "it clears the storage" "$show" "storage server"
over || fail "the server is blamed for a node without CPU: $(tundish incident list)"
equal "state in Slurm" "$(node_state train "$victim" | grep -c DRAIN)" 0
unclaimed "a node without CPU"
storage mend
history_intact

# What a user meets before any fault: imports, quotas, races for nodes, tenants kept apart, deletes.
source "$(dirname "$0")/lib/common.bash"

lab_up
equal "a new lab has no nodes" "$(nodes_json | jq length)" 0

# Sheets with mistakes: all are told at once, with file, row and column, and nothing changes.
revision=$(tundish status -o json | jq .revision)
text=$(exits 3 tundish inventory import "$TREE"/examples/broken/*.csv) || exit 1
(($(grep -c '\.csv:[0-9]' <<<"$text") > 3)) || fail "the import told too few problems: $text"
equal "the broken import admitted" "$(nodes_json | jq length)" 0
equal "objects after the broken import" "$(tundish rack list -o json | jq length)" 0
import_site
equal "a second import does" "$(tundish inventory import "$WORK"/site/*.csv -o json |
  jq -r '[.changes[].verb] | unique | join(" ")')" unchanged

tenant acme alice 64
tenant bolt bob 16

# More than there is, more than the quota: refused, with what is there.
text=$(exits 3 tundish cluster create big --tenant acme --engine slurm --nodes 5) || exit 1
has "larger than the fleet is refused with what fits" "$text" 4
text=$(exits 3 tundish cluster create big --tenant bolt --engine slurm --nodes 3) || exit 1
has "larger than the quota is refused with the quota" "$text" 16
equal "neither left a cluster" "$(tundish cluster list -o json | jq length)" 0
equal "neither left an allocation" "$(tundish allocation list -o json | jq length)" 0

# Unknown fields are refused by name.
text=$(api POST /v1/tenants '{"name":"x","gpu_quota":8,"gpu_qouta":9}')
has "an unknown field is refused by name" "$text" gpu_qouta
equal "the status of that" "$(cat "$WORK/code")" 422

# tundishd is killed while a cluster is made: it still becomes active.
exits 0 tundish cluster create train --tenant acme --engine slurm --nodes 2 --spares 0 >/dev/null
daemon kill
await 15 "tundishd is back" daemon_answers
await 60 "train is active although tundishd was killed" is cluster_phase train = active
equal "Slurm has both nodes" "$(slurm train sinfo -h -o %D -t idle)" 2

# Two orders for the last two nodes at once: exactly one wins, the other one is refused whole.
for name in left right; do
  tundish cluster create $name --tenant bolt --engine slurm --nodes 2 --no-login \
    >"$WORK/$name.out" 2>&1 &
done
codes=0
wait %1 || codes=$((codes + $?))
wait %2 || codes=$((codes + $?))
equal "of two orders one is done (0), one refused (3)" $codes 3
winner=$(tundish cluster list -o json | jq -r '.[].meta.name' | grep -v train)
equal "clusters that were made" "$(wc -w <<<"$winner")" 1
equal "it holds" "$(members "$winner" member | wc -w)" 2
await 60 "$winner is active" is cluster_phase "$winner" = active
# Flat segments have no list of a switch in the way: the service node itself must pass nobody.
no_way_through train "$winner"

# A tenant's token on another tenant's object: the answer is that of a name that does not exist.
operator=$(cat "$ROOT/secrets/operator.token")
bolt=$(tundish token create bolt-admin --role tenant-admin --tenant bolt -o json | jq -r .token)
id=$(tundish cluster show train -o json | jq -r .id)
TOKEN=$bolt
for name in train "$id"; do
  theirs=$(api GET "/v1/clusters/$name") && code=$(cat "$WORK/code")
  none=$(api GET "/v1/clusters/${name/tra/nix}")
  [[ $name != "$id" ]] || none=$(api GET "/v1/clusters/${id}9")
  equal "status for another's object" "$code" 404
  equal "status for none" "$(cat "$WORK/code")" 404
  a=${theirs//$name/NAME} b=${none//${name/tra/nix}/NAME}
  [[ $name != "$id" ]] || b=${none//${id}9/NAME}
  [[ $a == "$b" ]] || fail "the answers differ: $a / $b"
done
text=$(api DELETE /v1/clusters/train)
equal "status for deleting another's" "$(cat "$WORK/code")" 404
equal "clusters the other tenant sees" "$(api GET /v1/clusters | jq -r '.[].meta.name')" "$winner"
TOKEN=$operator
equal "train still is" "$(cluster_phase train)" active

# Delete: the nodes come back wiped and ready.
await 60 "$winner is active" is cluster_phase "$winner" = active
nodes=$(members train member)
job=$(ring train acme alice 2 100000) || fail "sbatch"
await 30 "the job makes steps" steps_pass 3 acme alice
on "${nodes% *}" id alice >/dev/null || fail "alice should be known on ${nodes% *}"
before=$(boots "${nodes% *}")
exits 0 tundish cluster delete train --yes >/dev/null
await 60 "train is gone" bash -c '! tundish cluster show train'
gone() { for n in $nodes; do [[ $(node_phase "$n") == ready ]] || return 1; done; }
await 60 "its nodes are ready" gone
for node in $nodes; do
  left=$(on "$node" sh -c '
    id alice >/dev/null 2>&1 && echo user; mountpoint -q /data && echo mount
    ls -A /data 2>/dev/null | head -1; ls /etc/munge/munge.key 2>/dev/null
    ls /etc/slurm/slurm.conf 2>/dev/null
    ps -eo comm | grep -E "^(slurmd|slurmstepd|munged|python3)" ; ip -4 -o addr show eth0
    true')
  equal "left of the tenant on $node" "$left" ""
done
equal "no reboot was needed" "$(boots "${nodes% *}")" "$before"
equal "the other cluster is" "$(cluster_phase "$winner")" active
equal "incidents" "$(all_incidents)" 0
history_intact

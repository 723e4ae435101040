# A tenant says that its job is slow: the node that stands out among its peers is found, taken out
# and replaced; where nothing is found the tenant is told what was looked at.
source "$(dirname "$0")/lib/common.bash"

lab_up --nodes 6
import_site
tenant acme alice 64
tenant bolt bob 64
create train acme 4 1
create tune bolt 1 0 --no-login
job=$(ring train acme alice 4 100000) || fail "sbatch"
await 30 "the job makes steps" steps_pass 3 acme alice
mine=$(tundish token create mine --tenant acme --role member -o json | jq -r .token)
spare=$(members train spare)
slow=$(members train member | awk '{print $3}')
other=$(members tune member)

# Nothing is wrong: told what was looked at, nothing is done.
exits 0 tundish --token "$mine" node report "$slow" --job "$job" "feels slow" --wait >"$WORK/sound.txt"
has "a sound node stays" "$(cat "$WORK/sound.txt")" "nothing was found; looked at"
has "its peers were asked" "$(cat "$WORK/sound.txt")" "3"
equal "incidents" "$(all_incidents)" 0
exits 3 tundish --token "$mine" node report "$other" --job "$job" "not mine" >/dev/null
say "another tenant's node is not there"

# One GPU is held at a low clock; nobody logs anything, and nobody names the node.
inject --node "$slow" --kind throttle --gpu 2
exits 0 tundish --token "$mine" node report --job "$job" "steps take twice as long" --wait \
  >"$WORK/slow.txt"
has "the slow node is found" "$(cat "$WORK/slow.txt")" "$slow"
has "and taken out" "$(cat "$WORK/slow.txt")" "it is taken out"
await 30 "the spare takes its place" sh -c "tundish allocation show train -o json | \
  jq -e --arg n '$(node_id "$spare")' '.status.nodes[] | select(.node == \$n and .role == \"member\")'"
# A job that still runs is waited for; its owner lets it go.
exits 0 slurm train scontrol requeue "$job" >/dev/null
await 90 "the job runs on without it" runs_without acme alice "$slow" 1
await 90 "the node was reset, proved and returned" is incident_state "$slow" = resolved
equal "the tenant's list of reports" "$(tundish --token "$mine" node reports -o json | jq length)" 2
history_intact

# Yesterday's backup: today's jobs survive it, nothing acts until the hold is released. A full disk:
# writes are refused with a remedy, nothing is half done, and it goes on when there is room again.
source "$(dirname "$0")/lib/common.bash"

# The store on a small disk of its own, made before the lab so that its namespaces have it.
mkdir "$WORK/small"
mount -t tmpfs -o size=12m tundish-small "$WORK/small" || fail "cannot mount a tmpfs"
MOUNTS+=("$WORK/small")
lab_up --login-nodes 2
sed -i "s|^state_dir: .*|state_dir: $WORK/small/store|" "$ROOT/tundishd.yaml"
daemon stop
daemon start
await 15 "tundishd runs on the small disk" daemon_answers
import_site
tenant acme alice 64
create train acme 2 0
tenant bolt bob 16

api POST /v1/backup "{\"path\":\"$WORK/backup.sqlite\"}" >/dev/null
equal "status of the hot backup" "$(cat "$WORK/code")" 200
[[ -s $WORK/backup.sqlite ]] || fail "there is no backup"
equal "the backup names keys in the clear" \
  "$(grep -c -a "$(on svc01 cat /var/lib/tundish/slurm/train-0/munge/munge.key | od -An -tx1 -N16 | tr -d " \n")" \
    "$WORK/backup.sqlite")" 0

# More happens after it: jobs, another cluster, a tenant.
job=$(ring train acme alice 2 1000000) || fail "sbatch"
create tune bolt 2 0
other=$(ring tune bolt bob 2 1000000) || fail "sbatch"
exits 0 tundish tenant create later --gpus 8 >/dev/null
await 30 "both jobs make steps" steps_pass 3 bolt bob
epoch=$(tundish status -o json | jq .epoch)
revision=$(tundish status -o json | jq .revision)

exits 3 tundishd --config "$ROOT/tundishd.yaml" --restore "$WORK/backup.sqlite" >"$WORK/refused"
say "with tundishd running: $(head -n 1 "$WORK/refused")"
daemon stop
exits 0 tundishd --config "$ROOT/tundishd.yaml" --restore "$WORK/backup.sqlite" >"$WORK/restored"
has "the restore says what to do" "$(cat "$WORK/restored")" hold
daemon start
await 15 "tundishd runs on the backup" daemon_answers
has "it is on hold" "$(tundish status -o json | jq -c .holds)" restored
equal "the epoch is a new one" "$(tundish status -o json | jq .epoch)" $((epoch + 1))
(($(tundish status -o json | jq .revision) > revision)) || fail "the revision is not above all"
equal "what came after the backup is not known" \
  "$(tundish cluster list -o json | jq -r '.[].meta.name')" train
count_train=$(step_count acme alice) count_tune=$(step_count bolt bob)
await 20 "today's job goes on" steps_pass $((count_train + 10)) acme alice
await 20 "the job of the unknown cluster goes on" steps_pass $((count_tune + 10)) bolt bob
await 20 "train is seen active" is cluster_phase train = active
touched() {
  [[ $(job_field train "$job" Restarts) != 0 || $(job_field tune "$other" Restarts) != 0 ]] ||
    [[ $(job_field train "$job" JobState) != RUNNING ]] ||
    [[ $(job_field tune "$other" JobState) != RUNNING ]]
}
never 4 "a job was touched under the hold" touched
hold=$(tundish hold list -o json | jq -r '.[0].meta.name')
exits 0 tundish hold release "$hold" >/dev/null
never 4 "a job was touched after the release" touched
equal "incidents" "$(all_incidents)" 0
history_intact

# A full disk.
dd if=/dev/zero of="$WORK/small/fill" bs=64k >/dev/null 2>&1
refused() {
  local i
  for i in $(seq 1 400); do # what is left in the log's own pages may take a few
    tundish tenant create "full-$i" --gpus 8 >"$WORK/full" 2>&1 || return 0
  done
  return 1
}
refused || fail "400 writes were taken on a full disk"
known=$(tundish tenant list -o json | jq length)
say "refused: $(head -n 2 "$WORK/full" | paste -sd' ')"
grep -q remedy "$WORK/full" || fail "no remedy is told: $(cat "$WORK/full")"
equal "reading still works" "$(cluster_phase train)" active
tundish tenant create another --gpus 8 >/dev/null 2>&1 && fail "a write was taken"
equal "nothing of the refused is there" "$(tundish tenant list -o json | jq length)" "$known"
never 2 "a job was touched on a full disk" touched
rm "$WORK/small/fill"
created() { tundish tenant create again --gpus 8; }
await 20 "writes are taken when there is room" created
equal "tenants" "$(tundish tenant list -o json | jq length)" $((known + 1))
restart_daemon
equal "tenants after a restart" "$(tundish tenant list -o json | jq length)" $((known + 1))
history_intact
daemon stop # its store is on the disk that goes first

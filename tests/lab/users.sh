# Users that come and go while a cluster runs; two tenants whose clusters have one name.
source "$(dirname "$0")/lib/common.bash"

lab_up --nodes 3 --login-nodes 2
import_site
tenant acme alice 64
tenant bolt bob 64
create train acme 1 0
enters() { login train "$1" id >/dev/null 2>&1; }
locked_out() { ! enters "$1"; }
await 20 "alice gets in" enters alice

# A user added later gets in, a deleted one no longer, an added-again one again.
ssh-keygen -q -t ed25519 -N '' -f "$WORK/carol"
for round in 1 2; do
  exits 0 tundish user create carol --tenant acme --ssh-key "$WORK/carol.pub" >/dev/null
  await 20 "carol gets in, time $round" enters carol
  exits 0 tundish user delete carol --yes >/dev/null
  await 20 "carol is locked out, time $round" locked_out carol
done
enters alice || fail "alice was locked out too"

# The same name in another tenant is another cluster; the first one does not notice.
first=$(tundish cluster list -o json | jq -r '.[0].id')
conf=$(on svc01 sh -c 'cat /etc/slurm/*/slurm.conf' | md5sum)
exits 0 tundish cluster create train --tenant bolt --engine slurm --nodes 1 --no-login >/dev/null
second_active() {
  [[ $(tundish cluster list -o json | jq '[.[] | select(.status.phase == "active")] | length') == 2 ]]
}
await 60 "both clusters named train are active" second_active
[[ $(on svc01 sh -c 'ls /etc/slurm | grep -c "^train-"') == 2 ]] || fail "they share a folder"
[[ $(on svc01 sh -c 'cat /etc/slurm/train-0/slurm.conf' | md5sum) == "$conf" ]] ||
  fail "the first cluster's configuration changed"
[[ $(tundish cluster exec "$first" --user alice --identity "$WORK/alice" -- sinfo -h -o %T) == idle ]] ||
  fail "the first cluster no longer serves"
history_intact
say "ok: users"

# XID 45 on all nodes of one job is the job's signature: told as the job's, no node is out for it;
# the same line on one of its nodes is nothing.
source "$(dirname "$0")/lib/common.bash"
source "$(dirname "$0")/lib/blame.bash"

lab_up --nodes 4
import_site
tenant acme alice 32
create train acme 3 0
read -r -a nodes <<<"$(members train member)"
job=$(ring train acme alice 3 2000) || fail "submitting the job"
await 60 "the job makes steps" steps_pass 1 acme alice
watch_claims
line() { # NODE
  lab_post /fault "{\"node\":\"$1\",\"line\":\"NVRM: Xid (PCI:0000:1b:00): 45, pid=9, name=b: 79, x, Ch 2\"}"
}
line "${nodes[0]}"
never 6 "one node of a job is blamed" blames process job
sleep 6 # two storms are two: events of one cause come within 5 s
for node in "${nodes[@]}"; do line "$node"; done
await 15 "the job is blamed" blames process job
equal "which job" "$(tundish incident show "$(cat "$WORK/blamed")" -o json | jq -r .subject)" \
  "$job of train"
unclaimed "a storm of one job"
equal "the job runs on" "$(job_field train "$job" JobState)" RUNNING

# The tenant reads of it, and of nobody else.
token=$(tundish token create alice-token --tenant acme --role tenant-admin -o json | jq -r .token)
mine=$(TOKEN=$token api GET "/v1/incidents/$(cat "$WORK/blamed")")
equal "status of the tenant's call" "$(cat "$WORK/code")" 200
has "the tenant learns that it is his job" "$mine" "\"subject\":\"$job of train\""
for secret in leaf1 rack svc01 serial; do
  [[ $mine != *"$secret"* ]] || fail "the tenant reads $secret: $mine"
done
history_intact

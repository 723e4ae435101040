# A GPU falls off the bus under a running job: the same job goes on on the spare, once; decoys do
# nothing; a line that a user wrote is believed enough to move the job, never to reset a node.
source "$(dirname "$0")/lib/common.bash"

lab_up --nodes 6 --login-nodes 2
import_site
tenant acme alice 64
tenant bolt bob 64
create train acme 3 1
create tune bolt 2 0
spare=$(members train spare)
read -r first victim last <<<"$(members train member)"
job=$(ring train acme alice 3 100000) || fail "sbatch"
other=$(ring tune bolt bob 2 100000) || fail "sbatch of the other tenant"
await 30 "the job makes steps" steps_pass 6 acme alice
await 30 "the other tenant's job makes steps" steps_pass 6 bolt bob
other_nodes=$(job_field tune "$other" NodeList)

# Decoys.
kernel() { # NODE TEXT: a real kernel record, no hardware fails
  lab_post /fault "$(jq -n --arg n "$1" --arg l "$2" \
    '{node: $n, gpu: 0, kind: "none", sticky: false, line: $l, level: 4, facility: "kernel"}')"
}
pci=$(nodes_json | jq -r --arg n "$first" '.[] | select(.meta.name == $n).status.hardware.gpus[0].pci')
for xid in 13 31 43; do inject --node "$first" --xid $xid --gpu 1; done
storm=$(for gpu in 1 2 3 4 5 6 7 8; do
  echo "NVRM: Xid (PCI:$pci): 45, pid=4242, name=python3, Ch 0000000$gpu"; done)
for node in $first $victim $last $spare $(members tune member); do kernel "$node" "$storm"; done
kernel "$first" "NVRM: Xid (PCI:$pci): 43, pid=4242, name=a): 79, GPU has fallen, Ch 00000008"
kernel "$first" "NVRM: Xid (PCI:$pci): 31, pid=7, name=x: 79, y, Ch 00000008, MMU Fault"
kernel "$first" "NVRM: Xid (PCI:$pci"
kernel "$first" "NVRM: Xid (PCI:0000:zz:00): , pid="
on "$first" sh -c 'echo "trainer: my log says Xid 79, help" >/dev/kmsg'
on "$first" sh -c "echo '<4>quoted NVRM: Xid (PCI:$pci): 79, GPU has fallen off the bus.' >/dev/kmsg"
decoyed() { [[ $(node_incidents) != 0 || $(job_field train "$job" Restarts) != 0 ]]; }
never 4 "a decoy opened an incident of a node or touched the job" decoyed
equal "what a storm over all nodes of a job is blamed on" "$(tundish incident list -o json |
  jq -r '[.[].blamed.subject_kind] | unique | join(" ")')" job
equal "claims after the decoys" "$(tundish claim list -o json | jq length)" 0
equal "members that Slurm drained after the decoys" "$(slurm train sinfo -h -N -o "%N %T" -n \
  "$first,$victim,$last" | grep -ciE "drain|down")" 0

# The real one.
count=$(boots "$victim")
inject --node "$victim" --xid 79 --gpu 3
await 40 "the job makes steps on the spare" runs_on acme alice "$spare"
await 60 "the incident is resolved" is incident_state "$victim" = resolved
await 30 "the repaired node is the new spare" is members train spare = "$victim"
equal "the job is the same and" "$(job_field train "$job" JobState)" RUNNING
equal "its restarts" "$(job_field train "$job" Restarts)" 1
equal "its nodes" "$(last_step acme alice | jq -r '.nodes | sort | join(" ")')" \
  "$(tr ' ' '\n' <<<"$first $last $spare" | sort | paste -sd' ')"
equal "members" "$(members train member)" \
  "$(tr ' ' '\n' <<<"$first $last $spare" | sort | paste -sd' ')"
equal "boots of the broken node" "$(boots "$victim")" $((count + 1))
equal "incidents" "$(node_incidents)" 1
job_told() { incidents "$1" | jq -r '.[0].jobs[] | "\(.job) \(.restarts)"'; }
await 15 "the incident tells of the job's restart" is job_told "$victim" = "$job 1"
has "it says that no job landed in between" "$(incidents "$victim" | jq -c .[0].timeline)" \
  "no job landed in between"
equal "its witness" "$(incidents "$victim" | jq -r '.[0].witnesses[0].provenance')" kernel
differs "raw line" "$(incidents "$victim" | jq -r '.[0].witnesses[0].event.text' | grep -c ': 79, ')" 0
equal "active claims" "$(active_claims "$victim")" 0
sums_right acme alice 3
no_gap acme alice

# A full-shape line that a user wrote: moved, proved, returned; nothing is reset or rebooted.
count=$(boots "$first")
inject --node "$first" --xid 79 --gpu 0 --userspace
await 40 "the job makes steps on the repaired node" runs_on acme alice "$victim"
await 60 "that incident is resolved" is incident_state "$first" = resolved
equal "its witness" "$(incidents "$first" | jq -r '.[0].witnesses[0].provenance')" userspace
equal "boots of that node" "$(boots "$first")" "$count"
did=$(acts "$first")
[[ " $did " != *" reset "* && " $did " != *" reboot "* && " $did " != *" power_cycle "* ]] ||
  fail "a user's line caused: $did"
equal "restarts of the job now" "$(job_field train "$job" Restarts)" 2
await 30 "the node is the spare again" is members train spare = "$first"
sums_right acme alice 3
no_gap acme alice

# The other tenant noticed nothing of all that.
equal "the other job's restarts" "$(job_field tune "$other" Restarts)" 0
equal "its state" "$(job_field tune "$other" JobState)" RUNNING
equal "its nodes" "$(job_field tune "$other" NodeList)" "$other_nodes"
no_gap bolt bob
equal "incidents at the end" "$(node_incidents)" 2

# A job that its user cancels in the moment of the fault stays cancelled: what the engine showed a
# second before is no leave to start it again.
victim=$(members tune member | cut -d' ' -f1)
exits 0 slurm tune scancel "$other" >/dev/null
inject --node "$victim" --xid 79 --gpu 1
await 60 "that node is repaired" is incident_state "$victim" = resolved
equal "the cancelled job" "$(job_field tune "$other" JobState)" CANCELLED
# Nobody but tundishd gave an engine command.
equal "foreign engine commands" "$(tundish history export | jq -s '
  [.[] | select(.operation | test("engine|drain|requeue")) | .actor |
   select(startswith("controller:") or . == "runner" or . == "system" | not)] | length')" 0
history_intact

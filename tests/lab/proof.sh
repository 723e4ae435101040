# A node returns only when what showed its fault was measured after the repair: memory, NVLink, a
# driver that hangs, a disk. A fault that stays is never returned. And a check that is run by hand
# looks at what the node's own loop looks at.
# slow
source "$(dirname "$0")/lib/common.bash"
source "$(dirname "$0")/lib/blame.bash"

lab_up --nodes 5 --fabric frr
import_site
pace 10 n03 n04 n05
tenant acme alice 32
create train acme 2 0
read -r -a members <<<"$(members train member)"
free=()
for node in n01 n02 n03 n04 n05; do
  [[ " ${members[*]} " == *" $node "* ]] || free+=("$node")
done
await 60 "every node was judged in its boot" all_judged
proved_by() { # NODE: checks that said ok in the last proof of its last incident
  incidents "$1" | jq -r '.[-1].verdicts[] | select(.state == "ok").check' | sort -u | tr '\n' ' '
}
has_incident() { (($(incident_count "$1") >= $2)); }

# The kernel's line is judged when it comes, not at the next turn of the check.
exits 0 tundish check run "${free[0]}" --check dram_ecc >/dev/null
started=$SECONDS
inject --node "${free[0]}" --kind memory_error
await 20 "a memory error is an incident at once" has_incident "${free[0]}" 1
await 90 "the node returns" is incident_state "${free[0]}" = resolved
has "its memory was measured after the repair" "$(proved_by "${free[0]}")" "dram_ecc"
exits 0 tundish check run "${free[0]}" --check dram_ecc >/dev/null
say "line to return: $((SECONDS - started)) s"

# NVLink, by the kernel's word.
inject --node "${free[1]}" --xid 74 --gpu 1
await 20 "XID 74 is an incident" has_incident "${free[1]}" 1
await 120 "the node returns" is incident_state "${free[1]}" = resolved
has "its links were measured" "$(proved_by "${free[1]}")" "nvlink_errors nvlink_state"

# A disk that reports errors is out of service, and comes back without them.
inject --node "${free[1]}" --kind disk_error
await 30 "a disk error takes its node out" has_incident "${free[1]}" 2
await 120 "the node returns" is incident_state "${free[1]}" = resolved
has "its disk was looked at" "$(proved_by "${free[1]}")" "disk_errors"

# A driver that hangs says nothing, and that is said.
inject --node "${free[2]}" --kind gpu_hang --gpu 1
await 120 "a driver that hangs is an incident" has_incident "${free[2]}" 1
await 180 "the node returns" is incident_state "${free[2]}" = resolved
has "it was restarted, not reset" " $(acts "${free[2]}") " " reboot "
[[ " $(acts "${free[2]}") " != *" reset "* ]] || fail "a driver that hangs was asked for a reset"
has "the driver answers" "$(proved_by "${free[2]}")" "gpu_answers"

# What a tenant's node is to have reaches a check that a person runs.
exits 0 tundish check run "${members[0]}" --check storage_mount --check mount_table >/dev/null
storage hang
for check in storage_mount storage_latency; do
  code=0
  text=$(tundish check run "${members[0]}" --check "$check" 2>&1) || code=$?
  ((code == 3 || code == 4)) || fail "$check says ok of a storage that hangs: $text"
done
say "a hung storage is not ok, whoever asks"
storage mend

# What no repair mends is never returned.
inject --node "${free[0]}" --kind memory_error --sticky
await 30 "it breaks again" has_incident "${free[0]}" 2
await 300 "it ends at the vendor" is incident_state "${free[0]}" = rma
[[ " $(acts "${free[0]}") " != *" returned "* ]] || fail "a node with a broken module was returned"
equal "claims on it" "$(active_claims "${free[0]}")" 1
history_intact

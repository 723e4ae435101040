# Drills from their files: real detection and repair against a stopwatch, decoys that cost nobody
# anything, a webhook that is told and marked, and drills that authority forbids.
source "$(dirname "$0")/lib/common.bash"

lab_up --nodes 5
import_site
tenant acme alice 64
create train acme 2 1
job=$(ring train acme alice 2 100000) || fail "sbatch"
await 30 "the job makes steps" steps_pass 3 acme alice

kinds=$(exits 0 tundish fault kinds -o json)
equal "kinds without an expected action" "$(jq '[.[] | select(.expected_action == "")] | length' \
  <<<"$kinds")" 0
(($(jq length <<<"$kinds") >= 20)) || fail "only $(jq length <<<"$kinds") kinds"

# What would be refused is refused before anything breaks.
printf 'name: d\nsteps:\n  - name: s\n    fault: xid\n    knot: {name: n01}\n' >"$WORK/bad.yaml"
has "an unknown key is refused by its line" "$(exits 3 tundish drill run "$WORK/bad.yaml" --yes)" \
  "bad.yaml:5"
exits 130 tundish drill run "$TREE/examples/drills/gpu-lost.yaml" >/dev/null
say "nobody said yes: not run"
exits 0 tundish drill run "$TREE/examples/drills/gpu-lost.yaml" --dry-run >/dev/null
equal "incidents after the dry run" "$(all_incidents)" 0

# Decoys, then the real ones.
exits 0 tundish drill run "$TREE/examples/drills/decoys.yaml" --yes >"$WORK/decoys.txt"
has "decoys" "$(cat "$WORK/decoys.txt")" "drill decoys: passed"
equal "incidents after the decoys" "$(all_incidents)" 0
tundish drill run "$TREE/examples/drills/gpu-lost.yaml" --yes -o json >"$WORK/lost.json" ||
  fail "gpu-lost: $(cat "$WORK/lost.json")"
equal "gpu-lost" "$(jq -r .outcome "$WORK/lost.json")" passed
jq -r '.steps[0].laps[] | "          \(.what) \(.took_ms) ms, at most \(.band_ms) ms"' \
  "$WORK/lost.json"
exits 0 tundish drill run "$TREE/examples/drills/memory.yaml" --yes >"$WORK/memory.txt" ||
  fail "$(cat "$WORK/memory.txt")"
has "memory" "$(cat "$WORK/memory.txt")" "drill memory: passed"
equal "incidents that are not marked as drills" \
  "$(tundish incident list -o json | jq '[.[] | select(.drill | not)] | length')" 0

# A serial goes to the vendor, nothing of the tenant does, and the history knows what went.
rma=$(tundish incident list -o json | jq -r '.[] | select(.state == "rma").id')
exits 0 tundish incident show "$rma" --bundle "$WORK/bundle.json" >"$WORK/sum.txt"
equal "sha256 of the bundle" "$(sha256sum <"$WORK/bundle.json" | cut -d' ' -f1)" \
  "$(cut -d' ' -f1 "$WORK/sum.txt")"
has "the history keeps it" "$(tundish history list -o json --limit 200 | jq -c .)" \
  "$(cut -d' ' -f1 "$WORK/sum.txt")"
differs "serial of the GPU in the bundle" \
  "$(jq -r '.parts[] | select(.what == "gpu").serial' "$WORK/bundle.json")" ""
! grep -qE 'acme|alice|train' "$WORK/bundle.json" || fail "the bundle names the tenant"

# A band that is missed is exit 3; what cannot be done is exit 4.
sed 's/detected_ms: 1000/detected_ms: 1/; s/returned_ms: 120000/returned_ms: 2/' \
  "$TREE/examples/drills/gpu-lost.yaml" >"$WORK/fast.yaml"
has_spare() { [[ -n $(members train spare) ]]; }
await 60 "the cluster is whole again" has_spare
has "a band that is missed" "$(exits 3 tundish drill run "$WORK/fast.yaml" --yes)" "LATE"
exits 0 tundish authority set --scope "site:$LAB" --class drill --level observe >/dev/null
has "authority forbids drills" \
  "$(exits 4 tundish drill run "$TREE/examples/drills/decoys.yaml" --yes)" "observe for drill"
history_intact

# For tests/lab/blame_*.sh: how often checks look, storage that hangs, and what blame says.

storage() { tundish lab storage "$@" --lab "$ROOT" || fail "storage $*"; } # slow|hang|mend
# blames PART KIND: an open incident does, on a part of that kind; its name is in $WORK/blamed
blames() {
  tundish incident list -o json | jq -r --arg p "$1" --arg k "$2" '[.[] |
    select(.state == "open" and .blamed.part == $p and .subject_kind == $k)][0].meta.name // empty' \
    >"$WORK/blamed"
  [[ -s $WORK/blamed ]]
}
all_claims() { tundish claim list -o json | jq '[.[] | select(.state == "active")] | length'; }
no_claims() { [[ $(all_claims) == 0 ]]; }
# never claimed meanwhile: watches in the background, judged by `unclaimed`
watch_claims() {
  (while sleep 1; do all_claims; done >"$WORK/claims" 2>/dev/null) &
  CHILDREN+=($!)
}
unclaimed() { # WHAT
  [[ -s $WORK/claims ]] || fail "nobody watched the claims"
  ! grep -qv '^0$' "$WORK/claims" || fail "$1: a node was claimed: $(tundish claim list)"
  say "$1: no node was claimed at any time"
}

# For tests/lab/blame_*.sh: storage that can hang, and what blame says of it.

# pace PERCENT NODE...: the agents' checks look so much more often than once a minute
pace() {
  local percent=$1 node
  shift
  for node in "$@"; do
    on "$node" sh -c "echo 'check_pace_percent: $percent' >>/etc/tundish/agent.yaml" ||
      fail "pace of $node"
    lab_post /agent "{\"node\":\"$node\",\"action\":\"kill\"}"
  done
  await 30 "agents are back with a pace of $percent %" all_heard
}
# serve_data NODE TENANT: from here on /data of the node is a real FUSE file system, served by a
# process of its own, as storage over a network is. Its server can be stopped.
serve_data() {
  local source=/run/tundish-hw/storage/$2
  on "$1" bash -c "mkdir -p /run/blame && cat >/run/blame/serve" <<'SERVE'
coproc SERVER { exec /usr/lib/openssh/sftp-server; }
exec sshfs -o passive -f -o allow_other ":$1" /data <&"${SERVER[0]}" >&"${SERVER[1]}"
SERVE
  on "$1" bash -c "umount -l /data; setsid bash /run/blame/serve $source >/run/blame/log 2>&1 &
    for i in \$(seq 50); do grep -q ' /data fuse' /proc/mounts && exit 0; sleep 0.1; done; exit 1" ||
    fail "no FUSE storage on $1: $(on "$1" cat /run/blame/log)"
}
storage() { # hang|mend NODE...: its server stops answering, or goes on
  local signal=STOP node
  [[ $1 == hang ]] || signal=CONT
  shift
  for node in "$@"; do on "$node" pkill "-$signal" -x sftp-server || fail "$signal on $node"; done
}
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

# A webhook that fails at first: one key per message, bounded tries, once over a restart, ended by an
# acknowledgement; and the text file for prometheus-node-exporter on a node.
source "$(dirname "$0")/lib/common.bash"

lab_up --nodes 2
cat >"$WORK/receiver.py" <<'PY'
import http.server, json, os, socketserver, sys
class Hook(http.server.BaseHTTPRequestHandler):
    def address_string(self): return "hook"
    def log_message(self, *args): pass
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        broken = os.path.exists(sys.argv[3])
        with open(sys.argv[2], "a") as log:
            print(503 if broken else 200, self.headers["idempotency-key"], body["event"],
                  body["notice"]["notice_class"], body["notice"]["drill"],
                  body["notice"]["runbook"], file=log, flush=True)
        self.send_response(503 if broken else 200)
        self.send_header("content-length", "0")
        self.end_headers()
class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
Server(sys.argv[1], Hook).serve_forever()
PY
python3 "$WORK/receiver.py" "$ROOT/run/hook.sock" "$WORK/told" "$WORK/broken" &
CHILDREN+=($!)
touch "$WORK/told"
echo "webhook_url: unix:$ROOT/run/hook.sock:/hook" >>"$ROOT/tundishd.yaml"
restart_daemon
import_site
node=$(nodes_json | jq -r '[.[] | select(.spec.role == "gpu")][0].meta.name')

told() { grep -c "^$1 " "$WORK/told"; }
touch "$WORK/broken"
inject --node "$node" --kind row_remap_failed --gpu 0
await 30 "three tries failed" sh -c "[ \$(grep -c '^503 ' '$WORK/told') -ge 3 ]"
equal "keys of those tries" "$(cut -d' ' -f2 "$WORK/told" | sort -u | wc -l)" 1
restart_daemon
rm "$WORK/broken"
await 40 "it is told after the restart" sh -c "grep -q '^200 ' '$WORK/told'"
sleep 3
restart_daemon
sleep 5
equal "messages that arrived" "$(told 200)" 1
has "it is marked as a drill, with its runbook" "$(grep '^200 ' "$WORK/told")" \
  "opened drill True docs/runbooks/drill.md"
await 30 "the vendor has it" is incident_state "$node" = rma
exits 0 tundish incident ack "$(incident_id "$node")" >/dev/null
await 15 "the acknowledgement is told" grep -q " acknowledged " "$WORK/told"
exits 0 tundish incident close "$(incident_id "$node")" >/dev/null
await 15 "the end is told" grep -q " resolved " "$WORK/told"
equal "messages in all" "$(told 200)" 3
equal "notices" "$(tundish notice list -o json | jq length)" 1

await 30 "the node writes its text file" on "$node" grep -q tundish_node_judged_seconds /run/tundish.prom
has "the witness is counted" "$(on "$node" cat /run/tundish.prom)" \
  'tundish_node_witnesses_total{kind="xid",provenance="kernel"}'
if command -v promtool >/dev/null; then
  api GET /metrics | promtool check metrics >"$WORK/promtool" 2>&1 || fail "$(cat "$WORK/promtool")"
  promtool check rules "$TREE/catalog/prometheus/alerts.yaml" >/dev/null || fail "alert rules"
  say "promtool reads metrics and rules"
fi
history_intact

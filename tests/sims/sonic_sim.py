"""SONiC behind SSH: CONFIG_DB with `config apply-patch` and its YANG checks, managers that copy it
to APPL_DB each in its turn, orchagent with ASIC_DB, FRR in a container, and `config save`.
Usage: sonic_sim.py CONFIGURATION

A configuration is {"config_db": {TABLE: {KEY: ROW}}, "frr": {LINE: {LINE: ...}}}. Accepted is
CONFIG_DB, applied is what orchagent did. Programs come by POST /exec {"argv", "input"} and run in a
mount namespace of their own, whose /usr/local/bin holds the commands of the switch and whose /run
stays from one program to the next.

Source: sonic-utilities doc/Command-Reference.md and scripts/generate_dump; sonic-yang-models
(leafrefs); sonic-swss vrfmgr.cpp, vxlanmgr.cpp, vlanmgr.cpp; sonic-buildimage #11428 (VRF before
VLAN map: the VLAN map never comes), #8493 (NVO before tunnel), #11944 (a VLAN with a map);
FRR user guide, vtysh -f."""
import copy
import fnmatch
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import urllib.parse

from common import LATE, Refused, Switch, serve

NAMES = ("sudo", "config", "sonic-cfggen", "sonic-db-dump", "sonic-db-cli", "docker")
MIRRORED = {"PORT": "PORT_TABLE", "VLAN": "VLAN_TABLE", "VLAN_MEMBER": "VLAN_MEMBER_TABLE",
            "VLAN_INTERFACE": "INTF_TABLE", "INTERFACE": "INTF_TABLE", "VRF": "VRF_TABLE",
            "VXLAN_TUNNEL": "VXLAN_TUNNEL_TABLE", "VXLAN_EVPN_NVO": "VXLAN_EVPN_NVO_TABLE",
            "VXLAN_TUNNEL_MAP": "VXLAN_TUNNEL_MAP_TABLE"}


class Config:
    """`db`: tables; `frr`: modes as nested dictionaries, in the order of their lines."""

    def __init__(self, db, frr):
        self.db, self.frr = db, frr

    def text(self):
        return json.dumps({"config_db": self.db, "frr": self.frr}, indent=1, sort_keys=True)


def load(text):
    wanted = json.loads(text)
    return Config(wanted["config_db"], wanted["frr"])


switch = Switch(load(open(sys.argv[1]).read()), lambda config: config.text())
vrf_came_first = set()  # VNIs whose VLAN map the hardware will not take any more


# --- CONFIG_DB

def steps_of(pointer):
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def patched(db, operations):
    db = copy.deepcopy(db)
    for operation in operations:
        path = steps_of(operation["path"])
        place = db
        for part in path[:-1]:
            if part not in place:
                raise Refused("can't add or remove %s: no such member" % operation["path"])
            place = place[part]
        if operation["op"] == "add":
            place[path[-1]] = operation["value"]
        elif operation["op"] == "remove":
            if path[-1] not in place:
                raise Refused("can't remove non-existent object %s" % operation["path"])
            del place[path[-1]]
        else:
            raise Refused("operation " + operation["op"])
        if any(not rows for rows in db.values()):
            raise Refused("an empty table is not a valid configuration")
    return db


def check(db):
    """The leafrefs of the YANG models."""
    def need(table, key, why):
        if key not in db.get(table, {}):
            raise Refused("Data Loading Failed: leafref %s %s of %s" % (table, key, why))

    for key in db.get("VLAN_MEMBER", {}):
        vlan, port = key.split("|")
        need("VLAN", vlan, key)
        need("PORT", port, key)
    for table in ("VLAN_INTERFACE", "INTERFACE"):
        for key, row in db.get(table, {}).items():
            name = key.split("|")[0]
            need("VLAN" if table == "VLAN_INTERFACE" else "PORT", name, key)
            if "|" in key:
                need(table, name, key)
            if "vrf_name" in row:
                need("VRF", row["vrf_name"], key)
    for key, row in db.get("VXLAN_TUNNEL_MAP", {}).items():
        need("VXLAN_TUNNEL", key.split("|")[0], key)
        need("VLAN", row["vlan"], key)
    for row in db.get("VXLAN_EVPN_NVO", {}).values():
        need("VXLAN_TUNNEL", row["source_vtep"], "VXLAN_EVPN_NVO")
    for key in db.get("ACL_RULE", {}):
        need("ACL_TABLE", key.split("|")[0], key)
    for key, row in db.get("ACL_TABLE", {}).items():
        for port in row["ports"]:
            need("PORT", port, key)


# --- managers and orchagent

def orchestrated(old, db):
    """What the hardware has after CONFIG_DB changed from `old` to `db` in one patch."""
    out = copy.deepcopy(db)
    maps = {row["vni"] for row in old.get("VXLAN_TUNNEL_MAP", {}).values()}
    for name, row in db.get("VRF", {}).items():
        vni = row.get("vni")
        if vni and vni not in maps:
            vrf_came_first.add(vni)
    for vni in list(vrf_came_first):
        if all(row.get("vni") != vni for row in db.get("VRF", {}).values()):
            vrf_came_first.discard(vni)
    for key, row in list(out.get("VXLAN_TUNNEL_MAP", {}).items()):
        if row["vni"] in vrf_came_first:
            del out["VXLAN_TUNNEL_MAP"][key]
    return out


def dump(entries, pattern):
    return json.dumps({key: {"expireat": 1, "ttl": -0.001, "type": "hash", "value": value}
                       for key, value in sorted(entries.items())
                       if fnmatch.fnmatchcase(key, pattern)}, indent=2) + "\n"


def appl_db(db):
    out = {}
    for table, mirror in MIRRORED.items():
        for key, row in db.get(table, {}).items():
            fields = {name: value for name, value in row.items() if isinstance(value, str)}
            if table == "PORT":
                fields.setdefault("admin_status", "down")
                fields["oper_status"] = fields["admin_status"]
            if table in ("VLAN_INTERFACE", "INTERFACE") and "|" in key:
                fields = {"scope": "global", "family": "IPv4"}
            out[mirror + ":" + key.replace("|", ":", 1)] = fields or {"NULL": "NULL"}
            if table == "VRF" and row.get("vni"):
                out["VXLAN_VRF_TABLE:vtep1:evpn_map_%s_%s" % (row["vni"], key)] = {
                    "vni": row["vni"], "vrf": key}
    return out


def oid(kind, name):
    return "oid:0x%x%08x" % (kind, sum((i + 1) * ord(c) for i, c in enumerate(name)))


def asic_db(db):
    out = {}

    def put(kind, where, **fields):
        out["ASIC_STATE:SAI_OBJECT_TYPE_%s:%s" % (kind, where)] = {
            "SAI_%s_ATTR_%s" % (kind, name): value for name, value in fields.items()}

    for port, row in db.get("PORT", {}).items():
        put("PORT", oid(0x100, port), MTU="9122",
            ADMIN_STATE="true" if row.get("admin_status") == "up" else "false")
    for vlan in db.get("VLAN", {}):
        put("VLAN", oid(0x260, vlan), VLAN_ID=vlan[len("Vlan"):])
    for key, row in db.get("VLAN_MEMBER", {}).items():
        vlan, port = key.split("|")
        put("BRIDGE_PORT", oid(0x3a0, port), PORT_ID=oid(0x100, port), TYPE="SAI_BRIDGE_PORT_TYPE_PORT")
        put("VLAN_MEMBER", oid(0x270, key), VLAN_ID=oid(0x260, vlan),
            BRIDGE_PORT_ID=oid(0x3a0, port),
            VLAN_TAGGING_MODE="SAI_VLAN_TAGGING_MODE_" + row["tagging_mode"].upper())
    routed = {row["vni"]: name for name, row in db.get("VRF", {}).items() if row.get("vni")}
    for key, row in db.get("VXLAN_TUNNEL_MAP", {}).items():
        if row["vni"] in routed:
            put("TUNNEL_MAP_ENTRY", oid(0x3b0, key), VNI_ID_KEY=row["vni"],
                TUNNEL_MAP_TYPE="SAI_TUNNEL_MAP_TYPE_VNI_TO_VIRTUAL_ROUTER_ID",
                VIRTUAL_ROUTER_ID_VALUE=oid(0x30, routed[row["vni"]]))
        else:
            put("TUNNEL_MAP_ENTRY", oid(0x3b0, key), VNI_ID_KEY=row["vni"],
                TUNNEL_MAP_TYPE="SAI_TUNNEL_MAP_TYPE_VNI_TO_VLAN_ID",
                VLAN_ID_VALUE=row["vlan"][len("Vlan"):])
    return out


def state_db(db):
    out = {"ACL_TABLE_TABLE|" + name: {"status": "Active"} for name in db.get("ACL_TABLE", {})}
    out.update({"ACL_RULE_TABLE|" + key: {"status": "Active"} for key in db.get("ACL_RULE", {})})
    return out


def database(name):
    db = switch.applied.db
    if name == "APPL_DB":
        return appl_db(db)
    if name == "ASIC_DB":
        return asic_db(db)
    if name == "STATE_DB":
        return state_db(db)
    if name == "COUNTERS_DB":
        return {"COUNTERS_PORT_NAME_MAP": {p: oid(0x100, p) for p in db.get("PORT", {})}}
    raise Refused("no database " + name)


pending = []  # changes of CONFIG_DB that the managers have yet to take


def catch_up():
    with switch.lock:
        for old, new in pending:
            switch.applied = Config(orchestrated(old, new), switch.accepted.frr)
        pending.clear()


def apply_patch(text):
    switch.troubles.check(text)
    operations = json.loads(text)
    old = switch.accepted.db

    def made(part):
        db = patched(old, part)
        check(db)
        return db

    accepted = Config(made(operations), switch.accepted.frr)
    for vlan in set(old.get("VLAN", {})) - set(accepted.db.get("VLAN", {})):
        if any(row["vlan"] == vlan for row in old.get("VXLAN_TUNNEL_MAP", {}).values()):
            if any(row["vlan"] == vlan for row in accepted.db.get("VXLAN_TUNNEL_MAP", {}).values()):
                raise Refused("orchagent crashed: a VLAN with a map is gone")
    if switch.troubles.name == "stuck":  # orchagent takes nothing any more
        switch.accepted = accepted
        return
    if pending or switch.troubles.take("late"):  # the managers take one after the other
        switch.accepted = accepted
        pending.append((old, accepted.db))
        if len(pending) == 1:
            threading.Timer(LATE, catch_up).start()
        return
    real_apply = switch.apply
    switch.apply = lambda config: real_apply(
        Config(orchestrated(old, config.db), switch.accepted.frr))
    try:
        switch.commit(accepted, lambda: Config(
            patched(old, operations[:(len(operations) + 1) // 2]), switch.accepted.frr))
    finally:
        switch.apply = real_apply


# --- FRR

def is_single(line):
    return line.startswith(("rd ", "bgp router-id ", "description "))


def opens(line):
    return line.startswith(("vrf ", "interface ", "router bgp ", "address-family ", "route-map "))


def enter(tree, path, line):
    place = tree
    for header in path:
        place = place.setdefault(header, {})
    if line.startswith("no "):
        what = line[3:]
        if line.startswith("no vrf ") and any(
                row == what[4:] for row in switch.applied.db.get("VRF", {})):
            raise Refused("% Only inactive VRFs can be deleted")
        gone = [old for old in place if old == what or old.startswith(what + " ")]
        # `router bgp 65001` alone would take every VRF's with it.
        if what.startswith("router bgp "):
            gone = [old for old in gone if old == what]
        if not gone and not what.startswith(("ip prefix-list", "route-map", "router", "vrf")):
            raise Refused("% Can't find " + what)
        for old in gone:
            del place[old]
        return
    if is_single(line):
        word = " ".join(line.split()[:-1])
        for old in [old for old in place if old.startswith(word + " ")]:
            del place[old]
    place.setdefault(line, {})


def vtysh_file(text):
    """Modes as vtysh knows them: by what opens and closes them, not by indentation."""
    tree = copy.deepcopy(switch.accepted.frr)
    try:
        run_lines(tree, text)
    finally:  # what came before a bad line stays
        switch.accepted = Config(switch.accepted.db, tree)
        switch.applied = Config(switch.applied.db, tree)


def run_lines(tree, text):
    path = []
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith("!"):
            continue
        try:
            switch.troubles.check(line)
            if line == "end":
                path = []
            elif line in ("exit", "exit-vrf", "exit-vni", "exit-address-family"):
                if not path:
                    raise Refused("% Unknown command: " + line)
                path.pop()
            else:
                at_top = line.startswith(("vrf ", "interface ", "router bgp ", "route-map ",
                                          "ip prefix-list ", "no vrf ", "no router bgp ",
                                          "no route-map ", "no ip prefix-list "))
                if at_top:
                    path = []
                enter(tree, path, line)
                in_evpn = bool(path) and path[-1] == "address-family l2vpn evpn"
                if opens(line) or (line.startswith("vni ") and in_evpn and len(path) == 2
                                   and " vrf " not in path[0]):
                    path.append(line)
        except Refused as why:
            raise Refused("line %d: Failure to communicate[13] to bgpd, line: %s\n%s"
                          % (number, line, why))


def running_config():
    ends = {"vrf": "exit-vrf", "address-family": "exit-address-family", "vni": "exit-vni"}

    def show(tree, depth):
        out = ""
        for line, inner in tree.items():
            out += " " * depth + line + "\n" + show(inner, depth + 1)
            if inner:
                out += " " * depth + ends.get(line.split()[0], "exit") + "\n"
            if inner and depth == 0:
                out += "!\n"
        return out

    return "Building configuration...\n\nCurrent configuration:\n!\n" + show(
        switch.accepted.frr, 0) + "end\n"


# --- commands

def command(name, argv, stdin):
    if name == "config" and argv[0] == "apply-patch":
        apply_patch(stdin)
        return "Patch applied successfully.\n"
    if name == "config" and argv == ["save", "-y"]:
        switch.saved = Config(copy.deepcopy(switch.accepted.db), switch.saved.frr)
        return "Running command: /usr/local/bin/sonic-cfggen -d --print-data\n"
    if name == "sonic-cfggen" and argv == ["-d", "--print-data"]:
        return json.dumps(switch.accepted.db, indent=4) + "\n"
    if name == "sonic-db-dump" and argv[0] == "-n" and argv[2:4] == ["-y", "-k"]:
        return dump(database(argv[1]), argv[4])
    if name == "sonic-db-cli" and argv[1] == "exists":
        return "%d\n" % (argv[2] in database(argv[0]))
    if name == "sonic-db-cli" and argv[1] == "hget":
        return database(argv[0]).get(argv[2], {}).get(argv[3], "") + "\n"
    if name == "docker":
        return in_container([word for word in argv[1:] if word != "-i"], stdin)
    raise Refused("command not found: %s %s" % (name, " ".join(argv)))


def in_container(argv, stdin):
    if argv[:2] == ["bgp", "sh"]:
        vtysh_file(stdin)
        return ""
    if argv == ["bgp", "vtysh", "-c", "show running-config"]:
        return running_config()
    if argv == ["bgp", "vtysh", "-c", "write memory"]:
        switch.saved = Config(switch.saved.db, copy.deepcopy(switch.accepted.frr))
        return "Building Configuration...\nConfiguration saved to /etc/frr/bgpd.conf\n"
    if argv[:2] == ["lldp", "lldpcli"]:
        return json.dumps({"lldp": [{"interface": [{
            "name": "Ethernet1", "chassis": [{"name": [{"value": "n01"}]}],
            "port": [{"id": [{"type": "mac", "value": "02:00:00:00:00:01"}],
                      "descr": [{"value": "eth0"}]}]}]}]})
    raise Refused("no container or command: " + " ".join(argv))


# --- programs

FOLDER = tempfile.mkdtemp(prefix="tundish-sonic-")
WRAPPER = """#!/bin/sh
name=${0##*/}
[ "$name" = sudo ] && { shift; exec "$@"; }
given=
case "$name $*" in
'config apply-patch'*) for file; do :; done; given=$(cat "$file") ;;
docker*' -i '*) given=$(cat) ;;
esac
left=$#
while [ $left -gt 0 ]; do
  word=$1
  shift
  set -- "$@" --data-urlencode "a=$word"
  left=$((left - 1))
done
answer=$(curl -s "$TUNDISH_SIM/command" --data-urlencode "n=$name" --data-urlencode "in=$given" "$@" \
  && printf x) || exit 1
answer=${answer%x}
rc=${answer%%
*}
answer=${answer#*
}
[ "$rc" = 0 ] && { printf '%s' "$answer"; exit 0; }
printf '%s' "$answer" >&2
exit "$rc"
"""


def prepare():
    for name in ("bin", "run"):
        os.mkdir(os.path.join(FOLDER, name))
    for name in NAMES:
        path = os.path.join(FOLDER, "bin", name)
        with open(path, "w") as out:
            out.write(WRAPPER)
        os.chmod(path, 0o755)


def run_program(argv, text):
    enter_namespace = ["unshare", "-m"] + ([] if os.geteuid() == 0 else ["-r"])
    setup = ("mount --make-rprivate / && mount --bind %s/run /run && "
             "mount --bind %s/bin /usr/local/bin && exec \"$@\"" % (FOLDER, FOLDER))
    ended = subprocess.run(enter_namespace + ["sh", "-c", setup, "sh"] + argv, input=text.encode(),
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           env={"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
                                "TUNDISH_SIM": switch.url})
    return {"rc": ended.returncode, "out": ended.stdout.decode(), "err": ended.stderr.decode()}


def handle(method, path, body):
    if path == "/exec":
        wanted = json.loads(body)
        # A change goes on when its connection is gone.
        lost = wanted["input"].endswith("play\n}\nmain\n") and switch.answer_is_lost()
        done = run_program(wanted["argv"], wanted["input"])
        return 200, None if lost else done
    if path != "/command":
        return 404, {}
    fields = urllib.parse.parse_qs(body, keep_blank_values=True)
    with switch.lock:
        try:
            return 200, "0\n" + command(fields["n"][0], fields.get("a", []), fields["in"][0])
        except Refused as why:
            return 200, "2\nError: %s\n" % why


prepare()
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # so that the folder goes too
try:
    serve(switch, load, handle)
finally:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    shutil.rmtree(FOLDER, ignore_errors=True)

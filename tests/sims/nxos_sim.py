"""Cisco NX-OS behind NX-API: POST /ins, JSON-RPC, methods cli and cli_ascii, checkpoints. Every
command is in force at once. Usage: nxos_sim.py CONFIGURATION
Source: Cisco Nexus 9000 NX-OS programmability guide, "NX-API CLI"."""
import json
import sys

from common import Lines, Refused, Session, Switch, serve

SINGLE = ("vrf member", "mtu", "description", "switchport access vlan", "ip access-group", "rd",
          "name", "vn-segment", "vni", "fabric forwarding anycast-gateway-mac")


def load(text):
    return Lines(text, 2, SINGLE, ("switchport",))


switch = Switch(load(open(sys.argv[1]).read()), lambda lines: lines.text())
checkpoints = {}


def shown(mode_line, inner):
    """Ports are up unless shut, and do not say so; other interfaces do."""
    if mode_line.startswith("interface Ethernet"):
        inner[:] = [entry for entry in inner if entry[0] != "no shutdown"]


def build(commands):
    session = Session(switch.accepted.copy())
    for command in commands:
        session.run(command)
    for line, inner in session.lines.root:
        shown(line, inner)
    return session.lines


def ports():
    rows = []
    for line, inner in switch.applied.root:
        if line.startswith("interface Ethernet"):
            shut = any(entry == "shutdown" for entry, _ in inner)
            state = "disabled" if shut else "connected"
            rows.append({"interface": line.split()[1], "state": state})
    return rows[0] if len(rows) == 1 else rows


def run(command):
    """The result of a command outside of configuration."""
    words = command.split()
    if command == "show running-config":
        return {"msg": "!Command: show running-config\n" + switch.show(switch.applied)}
    if command == "show interface status":
        return {"body": {"TABLE_interface": {"ROW_interface": ports()}}}
    if command == "show lldp neighbors detail":
        return {"body": {"TABLE_nbor_detail": {"ROW_nbor_detail": {
            "sys_name": "n01", "l_port_id": "Eth1/1", "port_id": "eth0"}}}}
    if words[:2] == ["no", "checkpoint"]:
        if checkpoints.pop(words[2], None) is None:
            raise Refused("checkpoint does not exist")
        return {"msg": ""}
    if words[0] == "checkpoint":
        if words[1] in checkpoints:
            raise Refused("checkpoint exists")
        checkpoints[words[1]] = switch.accepted
        return {"msg": "Done"}
    if command == "copy running-config startup-config":
        switch.saved = switch.applied
        return {"msg": "Copy complete."}
    raise Refused(command)


def configure(asked, answers):
    """Commands up to the first that fails; the ones before it stay."""
    done = []
    for item in asked:
        command = item["params"]["cmd"]
        try:
            switch.troubles.check(command)
            build(done + [command])
        except Refused as why:
            answers.append({"jsonrpc": "2.0", "id": item["id"], "error": {
                "code": -32602, "message": "Invalid params",
                "data": {"msg": "% Invalid command " + str(why) + "\n"}}})
            break
        done.append(command)
        answers.append({"jsonrpc": "2.0", "id": item["id"], "result": {"msg": ""}})
    try:
        switch.commit(build(done), lambda: build(done[: len(done) // 2]))
    except Refused as why:
        answers[-1] = {"jsonrpc": "2.0", "id": asked[0]["id"], "error": {
            "code": -32603, "message": "Internal error", "data": {"msg": str(why)}}}


def handle(method, path, body):
    asked = json.loads(body)
    if method != "POST" or path != "/ins":
        return 404, {}
    answers, lost = [], False
    with switch.lock:
        for at, item in enumerate(asked):
            command = item["params"]["cmd"]
            if command == "configure terminal":
                answers.append({"jsonrpc": "2.0", "id": item["id"], "result": {"msg": ""}})
                configure(asked[at + 1:], answers)
                lost = switch.answer_is_lost()
                break
            try:
                answers.append({"jsonrpc": "2.0", "id": item["id"], "result": run(command)})
            except Refused as why:
                answers.append({"jsonrpc": "2.0", "id": item["id"], "error": {
                    "code": -32602, "message": "Invalid params", "data": {"msg": str(why)}}})
                break
    return 200, None if lost else (answers[0] if len(asked) == 1 else answers)


serve(switch, load, handle)

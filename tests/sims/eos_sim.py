"""Arista EOS behind eAPI: POST /command-api, runCmds, configuration sessions, commit timer.
Usage: eos_sim.py CONFIGURATION [SECONDS that every commit timer has, instead of its own]
Source: EOS user manual ("Configuration sessions", eAPI); aristanetworks/pyeapi."""
import json
import sys
import threading

from common import Lines, Refused, Session, Switch, serve

SINGLE = ("vrf", "mtu", "description", "switchport access vlan", "ip virtual-router mac-address",
          "ip access-group", "rd", "name")
HIDDEN = ("no shutdown", "switchport")


def load(text):
    return Lines(text, 3, SINGLE, HIDDEN)


switch = Switch(load(open(sys.argv[1]).read()), lambda lines: lines.text())
timer_seconds = float(sys.argv[2]) if len(sys.argv) > 2 else None
sessions = {}  # name -> [commands]
pending = {}  # name -> (timer, configuration before)


def seconds_of(text):
    hours, minutes, seconds = (int(part) for part in text.split(":"))
    return timer_seconds or hours * 3600 + minutes * 60 + seconds


def build(commands):
    session = Session(switch.accepted.copy())
    for command in commands:
        session.run(command)
    return session.lines


def expire(name):
    with switch.lock:
        if name in pending:
            switch.accepted = pending.pop(name)[1]
            switch.applied = switch.accepted


def commit(name, seconds):
    if pending:
        raise Refused("a commit timer runs for " + ", ".join(pending))
    commands, before = sessions.pop(name), switch.accepted
    switch.commit(build(commands), lambda: build(commands[: len(commands) // 2]))
    if seconds is not None:
        timer = threading.Timer(seconds, expire, [name])
        timer.daemon = True
        pending[name] = (timer, before)
        timer.start()


def named(command):
    words = command.split()
    name, verb = words[2], words[3] if len(words) > 3 else ""
    if verb == "commit":
        if name not in pending:
            raise Refused("session " + name + " is not waiting")
        pending.pop(name)[0].cancel()
    elif verb == "abort":
        if name in pending:
            pending[name][0].cancel()
            expire(name)
        sessions.pop(name, None)
    else:
        sessions.setdefault(name, [])
        return name
    return None


def ports():
    out = {}
    for line, inner in switch.applied.root:
        if line.startswith("interface Ethernet"):
            shut = any(entry == "shutdown" for entry, _ in inner)
            out[line.split()[1]] = {"linkStatus": "disabled" if shut else "connected"}
    return out


def run(command, inside, text):
    """The answer, and the session that the next command is in."""
    if command == "enable":
        return {}, inside
    if command == "show running-config" and text:
        return {"output": "! Command: show running-config\n" + switch.show(switch.applied)}, inside
    if command == "show interfaces status":
        return {"interfaceStatuses": ports()}, inside
    if command == "show lldp neighbors":
        return {"lldpNeighbors": [{"port": "Ethernet1", "neighborDevice": "n01",
                                   "neighborPort": "eth0"}]}, inside
    if command == "write memory":
        switch.saved = switch.applied
        return {}, inside
    if command.startswith("configure session "):
        return {}, named(command)
    if inside and command.startswith("commit timer "):
        commit(inside, seconds_of(command.split()[2]))
        return {}, None
    if inside and command == "commit":
        commit(inside, None)
        return {}, None
    if inside:
        switch.troubles.check(command)
        sessions[inside].append(command)
        build(sessions[inside])
        return {}, inside
    raise Refused(command)


def handle(method, path, body):
    asked = json.loads(body)
    if method != "POST" or path != "/command-api" or asked["method"] != "runCmds":
        return 404, {}
    commands, results, inside = asked["params"]["cmds"], [], None
    with switch.lock:
        for number, command in enumerate(commands, 1):
            try:
                answer, inside = run(command, inside, asked["params"].get("format") == "text")
                results.append(answer)
            except Refused as why:
                results.append({"errors": ["Invalid input: " + str(why)]})
                return 200, {"jsonrpc": "2.0", "id": asked["id"], "error": {
                    "code": 1002, "data": results,
                    "message": "CLI command %d of %d '%s' failed: invalid command" % (
                        number, len(commands), command.strip())}}
        lost = any("commit timer" in command for command in commands) and switch.answer_is_lost()
    return 200, None if lost else {"jsonrpc": "2.0", "id": asked["id"], "result": results}


serve(switch, load, handle)

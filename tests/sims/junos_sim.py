"""Juniper Junos behind its REST API: POST /rpc?stop-on-error=1 with several procedures; a candidate
under a lock, commit confirmed. Usage: junos_sim.py CONFIGURATION [SECONDS of every confirmation]
Source: Junos OS REST API guide, Junos XML management protocol guide."""
import sys
import threading
import xml.etree.ElementTree as xml
from xml.sax.saxutils import escape

from common import Refused, Switch, serve

seconds_given = float(sys.argv[2]) if len(sys.argv) > 2 else None
# Statements that hold one value: a second one takes the place of the first.
SINGLE = ("description", "instance-type", "route-distinguisher", "mtu", "vlan-id", "vni",
          "service-type", "interface-mode", "l3-interface", "vtep-source-interface")


def words_of(line):
    """Words, those in quotes with their quotes."""
    out, word, quoted = [], "", False
    for sign in line.strip():
        if sign == '"':
            quoted = not quoted
        if sign == " " and not quoted:
            if word:
                out.append(word)
            word = ""
        else:
            word += sign
    return out + [word] if word else out


def load(text):
    return [words_of(line)[1:] for line in text.splitlines() if line.startswith("set ")]


def shown(statements):
    return "".join("set " + " ".join(words) + "\n" for words in statements)


def changed(statements, text, warnings=None):
    """To delete what is not there is only a warning."""
    out = [list(words) for words in statements]
    for line in text.splitlines():
        words = words_of(line)
        if not words:
            continue
        switch.troubles.check(line)
        if words[0] == "set" and len(words) > 1:
            rest = words[1:]
            if len(rest) > 1 and rest[-2] in SINGLE:
                out = [have for have in out if have[:-1] != rest[:-1] or have == rest]
            if rest not in out:
                out.append(rest)
        elif words[0] == "delete" and len(words) > 1:
            path = words[1:]
            kept = [have for have in out if have[: len(path)] != path]
            if len(kept) == len(out) and warnings is not None:
                warnings.append("statement not found: " + " ".join(path))
            out = kept
        else:
            raise Refused("unknown command: " + line)
    return out


switch = Switch(load(open(sys.argv[1]).read()), shown)
pending = []  # at most one: (timer, what to go back to)


def go_back():
    with switch.lock:
        if pending:
            switch.accepted = pending.pop()[1]
            switch.applied = switch.saved = switch.accepted


def commit(candidate, confirm_minutes):
    """`candidate`: None when nothing was loaded; that only confirms."""
    before = switch.accepted
    if pending:
        pending.pop()[0].cancel()
    if candidate is not None:
        new, text = candidate
        lines = text.splitlines()
        half = "\n".join(lines[: len(lines) // 2])
        switch.commit(new, lambda: changed(before, half))
    switch.saved = switch.applied
    if confirm_minutes is not None:
        timer = threading.Timer(seconds_given or 60 * confirm_minutes, go_back)
        timer.daemon = True
        pending.append((timer, before))
        timer.start()


def interfaces():
    ports = [words for words in switch.applied if words[0] == "interfaces"]
    down = {words[1] for words in ports if words[2] == "disable"}
    return "<interface-information>" + "".join(
        "<physical-interface><name>%s</name><oper-status>%s</oper-status></physical-interface>" % (
            name, "down" if name in down else "up")
        for name in sorted({words[1] for words in ports})) + "</interface-information>"


def procedure(node, held):
    """`held`: candidate of this request."""
    if node.tag == "get-configuration" and node.get("format") == "set":
        return "<configuration-set>\n" + escape(shown(switch.applied)) + "</configuration-set>"
    if node.tag == "get-interface-information":
        return interfaces()
    if node.tag == "get-lldp-neighbors-information":
        return ("<lldp-neighbors-information><lldp-neighbor-information><lldp-local-port-id>"
                "et-0/0/1</lldp-local-port-id><lldp-remote-port-id>eth0</lldp-remote-port-id>"
                "<lldp-remote-system-name>n01</lldp-remote-system-name>"
                "</lldp-neighbor-information></lldp-neighbors-information>")
    if node.tag in ("lock-configuration", "unlock-configuration"):
        return "<ok/>"
    if node.tag == "load-configuration" and node.get("action") == "set":
        text = node.findtext("configuration-set")
        warnings = []
        held["candidate"] = (changed(switch.accepted, text, warnings), text)
        return "<load-configuration-results>" + "".join(
            "<rpc-error><error-severity>warning</error-severity><error-message>" + escape(one)
            + "</error-message></rpc-error>"
            for one in warnings) + "<ok/></load-configuration-results>"
    if node.tag == "commit-configuration":
        minutes = node.findtext("confirm-timeout") if node.find("confirmed") is not None else None
        commit(held.get("candidate"), None if minutes is None else float(minutes))
        held["committed"] = held.get("candidate") is not None
        return "<commit-results><ok/></commit-results>"
    raise Refused("syntax error: " + node.tag)


def handle(method, path, body):
    if (method, path) != ("POST", "/rpc?stop-on-error=1"):
        return 404, ""
    answers, held, status = "", {}, 200
    with switch.lock:
        for node in xml.fromstring("<all>" + body + "</all>"):
            try:
                answers += procedure(node, held) + "\n"
            except Refused as why:
                answers += ("<rpc-error><error-severity>error</error-severity><error-message>"
                            + escape(str(why)) + "</error-message></rpc-error>")
                status = 400
                break
        lost = held.get("committed") and switch.answer_is_lost()
    return status, None if lost else answers


serve(switch, load, handle)

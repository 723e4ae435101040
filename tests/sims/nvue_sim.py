"""Cumulus Linux behind the NVUE API: revisions, PATCH with null to unset, apply, poll, save.
Usage: nvue_sim.py CONFIGURATION
Source: Cumulus Linux 5.10 user guide, "NVUE API"."""
import copy
import json
import sys
import threading
import urllib.parse

from common import Refused, Switch, serve


def load(text):
    return json.loads(text)


switch = Switch(load(open(sys.argv[1]).read()),
                lambda tree: json.dumps(tree, indent=1, sort_keys=True))
revisions = {}  # id -> {"state", "tree", "patches"}


def merged(tree, patch):
    """RFC 7396."""
    if not isinstance(patch, dict):
        return patch
    out = dict(tree) if isinstance(tree, dict) else {}
    for key, value in patch.items():
        if value is None:
            out.pop(key, None)
        else:
            out[key] = merged(out.get(key), value)
    return out


def build(patches):
    tree = copy.deepcopy(switch.accepted)
    for patch in patches:
        tree = merged(tree, patch)
    return tree


def apply(revision):
    """Takes a moment, as on a switch."""
    patches = revision["patches"]
    try:
        for patch in patches:
            switch.troubles.check(json.dumps(patch))
        switch.commit(build(patches), lambda: build(patches[: (len(patches) + 1) // 2]))
    except Refused as why:
        revision["state"] = "invalid"
        revision["transition"] = {"issue": {"0": {"message": str(why)}}, "progress": "Invalid"}
        return
    revision["state"] = "apply"

    def end():
        with switch.lock:
            revision["state"] = "applied"

    threading.Timer(0.1, end).start()


def shown(revision):
    return {key: revision[key] for key in ("state", "transition")}


def ports():
    out = {}
    for name, port in switch.applied.get("interface", {}).items():
        shut = "down" in port.get("link", {}).get("state", {})
        out[name] = {"link": {"oper-status": "down" if shut else "up"}}
    return out


def change_revision(name, asked):
    if name == "applied" and asked.get("state") == "save":
        switch.saved = switch.applied
        return 200, {"state": "save"}
    if name not in revisions:
        return 404, {"title": "no such revision"}
    if asked.get("state") != "apply" or asked.get("auto-prompt", {}).get("ays") != "ays_yes":
        return 400, {"title": "bad state"}
    apply(revisions[name])
    return 200, shown(revisions[name])


def handle(method, path, body):
    url = urllib.parse.urlsplit(path)
    query = dict(urllib.parse.parse_qsl(url.query))
    what = url.path[len("/nvue_v1/"):]
    with switch.lock:
        if (method, what) == ("GET", "") and query == {"rev": "applied", "filled": "false"}:
            return 200, switch.applied
        if (method, what) == ("GET", "interface") and query.get("rev") == "operational":
            return 200, ports()
        if (method, what) == ("POST", "revision"):
            name = "changeset/cumulus/2026-11-30_%d" % (len(revisions) + 1)
            revisions[name] = {"state": "pending", "transition": {}, "patches": []}
            return 201, {name: shown(revisions[name])}
        if (method, what) == ("PATCH", ""):
            revision = revisions.get(query.get("rev"))
            if revision is None or revision["state"] != "pending":
                return 404, {"title": "no such revision"}
            revision["patches"].append(json.loads(body))
            return 200, build(revision["patches"])
        if what.startswith("revision/"):
            name = urllib.parse.unquote(what[len("revision/"):])
            if method == "PATCH":
                status, answer = change_revision(name, json.loads(body))
                return status, None if name != "applied" and switch.answer_is_lost() else answer
            if method == "GET" and name in revisions:
                return 200, shown(revisions[name])
            if method == "DELETE" and name in revisions:
                return 200, shown(revisions.pop(name))
    return 404, {"title": "not found"}


serve(switch, load, handle)

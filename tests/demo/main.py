#!/usr/bin/env python3
"""The main job: a spreadsheet becomes a cloud, a GPU fails in the middle of a job, the job goes on
on a spare, and the broken node is repaired, proved and returned. Everything but the hardware is
real. Every outcome is judged; exit 0 only when all of them hold.

  --keep             leave the lab up and say how to look around
  --without-tundishd stop tundishd before the fault: the demo must then fail (a test does this)
"""
import json
import subprocess
import sys
import time

from stage import TREE, Failed, out, play

STEPS = 200


def files(folder):
    return sorted(str(path) for path in (TREE / "examples" / folder).glob("*.csv"))


def data_centre(s):
    s.title("1. a virtual data centre: 2 racks, 12 nodes of 8 GPUs, a service node, 2 login nodes")
    state = s.run("lab", "status", show=False, expect=None)
    if "ready" in state:
        raise Failed("a lab runs already; end it first: tundish lab down")
    s.up = True
    s.run("lab", "up")

    s.title("2. the operator's spreadsheets")
    s.run("inventory", "import", *files("broken"), expect=3)
    s.judge("the broken sheets changed nothing", s.get("node", "list") == [])
    s.run("inventory", "import", *files("site"), quiet=True)
    s.wait("every node was seen, inspected and proved",
           lambda: all(n["status"]["phase"] == "ready" for n in s.get("node", "list")), 60)
    s.run("node", "list")
    s.judge("15 nodes are ready", len(s.get("node", "list")) == 15)
    second = s.get("inventory", "import", *files("site"))
    s.judge("a second import changes nothing",
            all(change["verb"] == "unchanged" for change in second["changes"]))


def clusters(s):
    s.title("3. two tenants and their clusters")
    s.run("tenant", "create", "acme", "--gpus", "64")
    s.run("tenant", "create", "bolt", "--gpus", "64")
    s.run("user", "create", "alice", "--tenant", "acme", "--ssh-key", s.key("alice") + ".pub")
    s.run("user", "create", "bob", "--tenant", "bolt", "--ssh-key", s.key("bob") + ".pub")
    wait = ("--engine", "slurm", "--wait")
    s.run("cluster", "create", "train", "--tenant", "acme", "--nodes", "4", "--spares", "1", *wait)
    s.run("cluster", "create", "tune", "--tenant", "bolt", "--nodes", "2", "--spares", "1", *wait)
    s.run("cluster", "create", "eval", "--tenant", "bolt", "--nodes", "4", "--no-login", *wait)
    s.run("cluster", "create", "more", "--tenant", "acme", "--nodes", "5", expect=3)
    s.on_login("train", "alice", "sinfo")
    s.judge("the tenant sees its four members and nothing else",
            s.on_login("train", "alice", "sinfo -h -o %D", show=False).split() == ["4"])


def isolated(s, when):
    """Every node of every cluster sends marked frames of seven kinds and says what it saw."""
    def proved():  # exit 4: a cell could not be proved this time; a leak is exit 3, and stays one
        found = json.loads(s.run("network", "probe", "-o", "json", show=False, expect=None))
        return found if s.code != 4 else None

    matrix = s.wait("every cell of the matrix is proved", proved, 60)
    others = [pair for pair in matrix["pairs"] if not pair["same"]]
    closed = all(way["cell"] == "closed" for pair in others for way in pair["ways"])
    s.judge(f"no frame of one cluster reaches another {when}",
            matrix["isolated"] and closed and not matrix["left_out"],
            f"{len(others)} pairs, seven ways each")


def networks(s):
    s.title("4. networks that nobody crosses, as seen on the wire")
    s.run("network", "show", "tune")
    isolated(s, "before anything fails")
    s.run("network", "probe", expect=None)


def submit(s):
    s.title("5. a job over all four nodes, and one of the other tenant")
    for cluster, user in (("train", "alice"), ("tune", "bob")):
        s.on_login(cluster, user, f"mkdir -p /data/{user}/ring", show=False)
        for name in ("ring.py", "ring.sbatch"):
            s.on_login(cluster, user, f"cat > /data/{user}/ring/{name}",
                       stdin=(TREE / "examples/jobs" / name).read_text(), show=False)
    job = s.on_login("train", "alice",
                     f"sbatch --parsable -N4 /data/alice/ring/ring.sbatch /data/alice/ring {STEPS}")
    other = s.on_login("tune", "bob",
                       "sbatch --parsable -N2 /data/bob/ring/ring.sbatch /data/bob/ring 100000")
    s.job, s.other = job.strip(), other.strip()
    s.wait("the job makes steps", lambda: len(steps(s)) > 12, 60)
    s.on_login("train", "alice", "squeue")
    s.on_login("train", "alice", "tail -n 2 /data/alice/ring/steps.jsonl")
    s.before = show_job(s, "tune", "bob", s.other)


def steps(s, cluster="train", user="alice"):
    text = s.on_login(cluster, user, f"cat /data/{user}/ring/steps.jsonl", show=False)
    return [json.loads(line) for line in text.splitlines() if line.endswith("}")]


def show_job(s, cluster, user, job):
    text = s.on_login(cluster, user, f"scontrol show job -o {job}", show=False)
    return dict(word.split("=", 1) for word in text.split() if "=" in word)


def members(s, cluster, role="member"):
    held = s.get("allocation", "show", cluster)["status"]["nodes"]
    names = {node["id"]: node["meta"]["name"] for node in s.get("node", "list")}
    return sorted(names[m["node"]] for m in held if m["role"] == role)


def incident_on(s, node, state=None, after=0):
    names = {n["meta"]["name"]: n["id"] for n in s.get("node", "list")}
    for incident in s.get("incident", "list"):
        late = incident["meta"]["revision"] > after
        if incident["node"] == names[node] and late and (state in (None, incident["state"])):
            return incident
    return None


def boots(s, node):
    return next(n["boots"] for n in s.lab_call("/status")["nodes"] if n["name"] == node)


def newest(s):
    return max([i["meta"]["revision"] for i in s.get("incident", "list")] or [0])


def fall_off_the_bus(s, without_tundishd):
    s.title("6. a GPU falls off the bus in the middle of the job")
    s.spare = members(s, "train", "spare")[0]
    s.victim = members(s, "train")[2]
    s.old_boots = boots(s, s.victim)
    if without_tundishd:
        line = "NVRM: Xid (PCI:0000:61:00): 79, pid=4242, name=python3, GPU has fallen off the bus."
        s.lab_call("/daemon", {"action": "stop"})
        s.lab_call("/fault", {"node": s.victim, "gpu": 3, "kind": "lost", "line": line})
        s.wait("without tundishd: the job runs on the spare",
               lambda: s.spare in steps(s)[-1]["nodes"], 40)
    s.run("fault", "inject", "--node", s.victim, "--xid", "79", "--gpu", "3")

    s.title("7. detected, claimed, requeued, replaced; repaired, proved, wiped, returned")
    s.wait("the job makes steps on the spare",
           lambda: s.spare in steps(s)[-1]["nodes"] and len(steps(s)) > 0, 90)
    s.on_login("train", "alice", "squeue")
    incident = s.wait("the incident is resolved", lambda: incident_on(s, s.victim, "resolved"), 90)
    s.wait("the repaired node is the new spare",
           lambda: members(s, "train", "spare") == [s.victim], 60)
    job = show_job(s, "train", "alice", s.job)
    s.judge("the same job runs", job["JobId"] == s.job and job["JobState"] == "RUNNING")
    s.judge("it restarted once", job["Restarts"] == "1")
    nodes = steps(s)[-1]["nodes"]
    s.judge("on the spare, without the broken node", s.spare in nodes and s.victim not in nodes,
            " ".join(nodes))
    s.judge("the node was rebooted once", boots(s, s.victim) == s.old_boots + 1)
    s.judge("the repaired node is the new spare", members(s, "train", "spare") == [s.victim])

    s.title("8. what the incident tells")
    done = [step for step in steps(s)]
    first_new = next(step for step in done if step["restart"] == 1)
    last_old = [step for step in done if step["restart"] == 0][-1]
    repeated = last_old["step"] - first_new["step"] + 1
    pause = first_new["at"] - last_old["at"]
    s.run("incident", "note", incident["id"], "--reason",
          f"job {s.job}: {repeated} steps repeated, first step after the fault {pause:.1f} s "
          f"after the last one before it", show=False)
    s.run("incident", "show", incident["id"])


def second_and_third(s):
    s.title("9. a second fault (XID 95) on another node: the GPUs are reset, nothing is rebooted")
    node = members(s, "train")[0]
    count, spare = boots(s, node), members(s, "train", "spare")[0]
    mark = newest(s)
    s.run("fault", "inject", "--node", node, "--xid", "95", "--gpu", "5")
    incident = s.wait("resolved", lambda: incident_on(s, node, "resolved", mark), 120)
    did = [entry["what"] for entry in incident["timeline"]]
    s.judge("the reset step was taken", "reset" in did and "reboot" not in did)
    s.judge("no reboot", boots(s, node) == count)
    s.wait("the job is on the spare", lambda: spare in steps(s)[-1]["nodes"], 60)
    s.wait("the node is the spare again", lambda: members(s, "train", "spare") == [node], 60)

    s.title("10. a third one that no repair cures: RMA, the claim stays")
    node = members(s, "train")[0]
    mark = newest(s)
    s.run("fault", "inject", "--node", node, "--xid", "79", "--gpu", "0", "--sticky")
    incident = s.wait("RMA", lambda: incident_on(s, node, "rma", mark), 180)
    claims = [c for c in s.get("claim", "list")
              if c["node"] == incident["node"] and c["state"] == "active"]
    s.judge("the claim is held", len(claims) == 1)
    s.run("node", "explain", node)
    s.judge("no spare is left, and it says so", members(s, "train", "spare") == [])


def finish_job(s):
    s.title("11. the job ends; the other tenant noticed nothing")
    s.wait("the job is done", lambda: steps(s)[-1]["step"] == STEPS - 1, 180)
    s.wait("Slurm says so", lambda: "COMPLETED" in s.on_login(
        "train", "alice", f"sacct -n -X -j {s.job} -o state%20", show=False), 60)
    s.on_login("train", "alice",
               f"sacct -X -j {s.job} -o jobid,state,elapsed,nodelist%20,alloctres%50")
    done = steps(s)
    s.judge("every step was summed over all ranks, and none is missing",
            {step["step"] for step in done} == set(range(STEPS))
            and all(step["sum"] == 10 * (step["step"] + 1) for step in done))
    s.judge("eight GPUs on every node", all(step["gpus"] == 8 for step in done))
    now = show_job(s, "tune", "bob", s.other)
    s.judge("the other tenant's job never moved",
            now["Restarts"] == "0" and now["NodeList"] == s.before["NodeList"]
            and now["JobState"] == "RUNNING", now["NodeList"])


def advise_and_hold(s):
    s.title("12. the same fault with the rack at `advise`: a proposal, nothing touched")
    node = members(s, "tune")[0]
    rack = next(n for n in s.get("node", "list") if n["meta"]["name"] == node)["spec"]["rack"]
    count, mark = boots(s, node), newest(s)
    s.run("authority", "set", "--scope", f"rack:{rack}", "--level", "advise")
    s.run("fault", "inject", "--node", node, "--xid", "79", "--gpu", "1")
    proposal = s.wait("a proposal", lambda: [p for p in s.get("proposal", "list")
                                             if p["state"] == "waiting"], 30)[0]
    s.run("proposal", "list")
    time.sleep(4)
    s.judge("nothing was touched: no reboot, the job runs where it ran",
            boots(s, node) == count
            and show_job(s, "tune", "bob", s.other)["NodeList"] == s.before["NodeList"])
    s.run("proposal", "approve", proposal["id"], "--reason", "go ahead")
    s.wait("resolved after the approval", lambda: incident_on(s, node, "resolved", mark), 120)
    s.judge("now it was rebooted", boots(s, node) == count + 1)
    s.run("authority", "set", "--scope", f"rack:{rack}", "--level", "act")

    s.title("13. and under a hold: nothing acts until the release")
    s.wait("tune is whole", lambda: s.get("cluster", "show", "tune")["status"]["phase"] == "active"
           and s.get("allocation", "show", "tune")["status"]["phase"] == "active", 60)
    node = members(s, "tune")[0]
    count, mark = boots(s, node), newest(s)
    s.run("hold", "set", "--for", "1h", "--reason", "demo")
    s.run("fault", "inject", "--node", node, "--xid", "79", "--gpu", "2")
    s.wait("detected all the same", lambda: incident_on(s, node, "open", mark), 30)
    time.sleep(4)
    s.judge("nothing acted", boots(s, node) == count and node in members(s, "tune"))
    s.run("hold", "release")
    s.wait("resolved after the release", lambda: incident_on(s, node, "resolved", mark), 120)
    s.judge("now it was rebooted", boots(s, node) == count + 1)


def last_words(s):
    s.title("14. the record")
    s.run("history", "verify")
    token = open(s.root() + "/secrets/operator.token").read().strip()
    text = subprocess.run(
        ["curl", "-s", "--unix-socket", s.root() + "/run/tundishd.sock", "http://t/metrics",
         "-H", "Authorization: Bearer " + token], capture_output=True, text=True).stdout
    counts = {}
    for line in text.splitlines():
        for kind in ("tundish_permits_granted", "tundish_driver_calls"):
            if line.startswith(kind + "{"):
                act = line.split('"')[1]
                counts.setdefault(act, {})[kind] = int(line.rsplit(" ", 1)[1])
    s.judge("no driver was called without a permit",
            counts and all(c.get("tundish_permits_granted") == c.get("tundish_driver_calls")
                           for c in counts.values()), f"{len(counts)} kinds of act")
    reasons = s.lab_call("/run", {"node": "svc01", "argv": [
        "sh", "-c", "grep -h 'reason set to' /var/log/tundish/*/slurmctld*.log "
                    "/var/log/tundish/slurmctld*.log /var/log/slurm/*.log 2>/dev/null"]})["out"]
    lines = [line for line in reasons.splitlines() if "reason set to" in line]
    s.judge("every drain in Slurm's own log is tundishd's",
            lines and all("tundish" in line for line in lines), f"{len(lines)} of them")
    s.run("status")


def main():
    flags = set(sys.argv[1:])
    unknown = flags - {"--keep", "--without-tundishd"}
    if unknown:
        print(f"main: not known: {' '.join(sorted(unknown))}", file=sys.stderr)
        print(__doc__)
        return 2

    def story(s):
        data_centre(s)
        clusters(s)
        networks(s)
        submit(s)
        fall_off_the_bus(s, "--without-tundishd" in flags)
        second_and_third(s)
        isolated(s, "after nodes came and went")
        finish_job(s)
        advise_and_hold(s)
        last_words(s)

    code = play(story, "--keep" in flags)
    if code == 0 and "--keep" in flags:
        out("\nThe lab is up. Look around:  tundish status   tundish node list   "
            "tundish incident list\n"
            "As alice:  tundish cluster exec train --user alice --identity build/demo/alice -- sinfo\n"
            "End it:  tundish lab down\n"
            "(export PATH=$PWD/build/dev/bin:$PATH first)")
    return code


if __name__ == "__main__":
    sys.exit(main())

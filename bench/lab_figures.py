"""What is measured in a lab: a kernel line's way, and what the agent costs."""
import datetime
import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import threading
import time
import urllib.request

from bench_site import Problem, UnixConnection, xid_line


def quantile(values, part):
    values = sorted(values)
    return values[int(part * (len(values) - 1))] if values else float("nan")


def seconds_of(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class Watch(threading.Thread):
    """Times at which the event stream showed each incident for the first time."""

    def __init__(self, lab):
        super().__init__(daemon=True)
        self.lab, self.seen, self.news = lab, {}, threading.Condition()
        self.client = UnixConnection(lab.root + "/run/tundishd.sock")
        revision = lab.get("/v1/status")["revision"]
        self.client.request("GET", f"/v1/watch?since={revision}", None,
                            {"Authorization": "Bearer " + lab.token})
        self.answer = self.client.getresponse()

    def run(self):
        try:
            for line in self.answer:
                now = time.time()
                if not line.startswith(b"data:"):
                    continue
                event = json.loads(line[5:])
                if event.get("kind") != "incident":
                    continue
                with self.news:
                    self.seen.setdefault(event["id"], (now, event["object"]))
                    self.news.notify_all()
        except (OSError, ValueError, AttributeError, http.client.HTTPException):
            return  # closed

    def close(self):
        self.client.sock.shutdown(socket.SHUT_RDWR)

    def next_of(self, node, known, limit):
        """(time, incident) of an incident on `node` that is not in `known`."""
        end = time.time() + limit
        with self.news:
            while True:
                for key, (at, found) in self.seen.items():
                    if key not in known and found and found["node"] == node:
                        known.add(key)
                        return at, found
                if not self.news.wait(max(0.0, end - time.time())):
                    raise Problem("an injected line opened no incident")


def give_back(lab, node):
    """At once: whoever closes an incident has the node proved first, which is work of its own."""
    lab.post(f"/v1/nodes/{node}/return", {"reason": "bench", "force": True})


def settled(lab):
    """Nothing is open and nothing is being proved: what is measured next is measured alone."""
    lab.wait("the nodes are at rest", lambda: all(
        i["state"] != "open" for i in lab.get("/v1/incidents?limit=10000")) and all(
            n["status"]["phase"] in ("ready", "assigned") for n in lab.get("/v1/nodes")), 180, 1)


def line_to_incident(lab, seconds, most):
    """One line at a time, each on another GPU and node; nothing acts, a hold is set."""
    hold = lab.post("/v1/holds", {"scope": "*", "reason": "bench"})
    nodes = [(n["id"], n["meta"]["name"]) for n in lab.get("/v1/nodes")
             if n["spec"]["role"] == "gpu"]
    gpus = {name: lab.gpus(name) for _, name in nodes}
    watch = Watch(lab)
    watch.start()
    opened_ms, stored_ms, known = [], [], set()
    end = time.time() + seconds
    while time.time() < end and len(opened_ms) < most:
        count = len(opened_ms)
        node, name = nodes[count % len(nodes)]
        pci = gpus[name][count // len(nodes) % len(gpus[name])]
        begin = time.time()
        lab.kernel_lines(name, [xid_line(pci, 95, count)])
        at, incident = watch.next_of(node, known, 10)
        opened_ms.append(1000 * (seconds_of(incident["opened_at"]) - begin))
        stored_ms.append(1000 * (at - begin))
        give_back(lab, name)
    lab.call(lab.root + "/run/tundishd.sock", "DELETE", "/v1/holds/" + hold["id"], None)
    watch.close()
    return {"line_incident_count": len(opened_ms),
            "line_incident_p50_ms": quantile(opened_ms, 0.5),
            "line_incident_p99_ms": quantile(opened_ms, 0.99),
            "line_seen_p50_ms": quantile(stored_ms, 0.5),
            "line_seen_p99_ms": quantile(stored_ms, 0.99)}


# The folder carries the cluster's number; its controller lives in a network of its own.
IN_CLUSTER = ("SLURM_CONF=$(ls -d /etc/slurm/bench-[0-9]*/slurm.conf); export SLURM_CONF; "
              "name=$(basename \"$(dirname \"$SLURM_CONF\")\"); ")


class SlurmWatch(threading.Thread):
    """Slurm's own words about its nodes, every 30 ms or so, from inside the service node."""
    SCRIPT = IN_CLUSTER + ("exec nsenter --net=/run/netns/tundish-$name sh -c 'while scontrol "
                           "show nodes -o; do date +now=%s.%N; sleep 0.02; done'")

    def __init__(self, lab):
        super().__init__(daemon=True)
        self.process = subprocess.Popen(lab.exec_argv("svc01", "sh", "-c", self.SCRIPT),
                                        env=lab.env, text=True, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        self.states, self.news = {}, threading.Condition()

    def run(self):
        states = {}
        for line in self.process.stdout:
            if line.startswith("now="):
                with self.news:
                    self.states = {name: (state, float(line[4:])) for name, state in
                                   states.items()}
                    self.news.notify_all()
                continue
            found = re.search(r"NodeName=(\S+).* State=(\S+)", line)
            if found:
                states[found.group(1)] = found.group(2)

    def wait(self, name, drained, limit):
        """Time at which Slurm said so of the node."""
        end = time.time() + limit
        with self.news:
            while True:
                state, at = self.states.get(name, ("", 0))
                if state and ("DRAIN" in state) == drained:
                    return at
                if not self.news.wait(max(0.0, end - time.time())):
                    raise Problem(f"Slurm shows {name} as {state or 'nothing'}")

    def close(self):
        self.process.kill()
        self.process.wait()


def line_to_slurm(lab, seconds, most):
    """Members of an active cluster with work on them; XID 48 waits for the job, so the node only
    refuses new work until it is given back."""
    settled(lab)
    lab.post("/v1/tenants", {"name": "bench", "gpu_quota": 8 * lab.nodes})
    lab.post("/v1/clusters", {"name": "bench", "tenant": "bench", "nodes": lab.nodes,
                              "login": False, "replace": "never"})
    lab.wait("the cluster is active", lambda: lab.get("/v1/clusters/bench")["status"]["phase"] ==
             "active", 90)
    names = {n["id"]: n["meta"]["name"] for n in lab.get("/v1/nodes")}
    members = [m["node"] for m in lab.get("/v1/allocations/bench")["status"]["nodes"]
               if m["role"] == "member"]
    gpus = {node: lab.gpus(names[node]) for node in members}
    for _ in members:
        lab.lab_post("/run", {"node": "svc01", "limit_s": 20, "argv": [
            "sh", "-c", IN_CLUSTER + "exec nsenter --net=/run/netns/tundish-$name sbatch "
            "--exclusive -N1 --output=/dev/null --wrap 'sleep 3600'"]})
    slurm, watch = SlurmWatch(lab), Watch(lab)
    slurm.start()
    watch.start()
    time.sleep(3)
    took_ms, known, failures = [], set(), 0
    end = time.time() + seconds
    try:
        while time.time() < end and len(took_ms) < most:
            count = len(took_ms) + failures
            node = members[count % len(members)]
            slurm.wait(names[node], False, 20)
            begin = time.time()
            pci = gpus[node][count // len(members) % len(gpus[node])]
            lab.kernel_lines(names[node], [xid_line(pci, 48, f"s{count}")])
            at, incident = watch.next_of(node, known, 10)
            try:
                took_ms.append(1000 * (slurm.wait(names[node], True, 10) - begin))
            except Problem:
                failures += 1
            give_back(lab, names[node])
    finally:
        slurm.close()
        watch.close()
    return {"line_slurm_count": len(took_ms), "line_slurm_failures": failures,
            "line_slurm_p50_ms": quantile(took_ms, 0.5),
            "line_slurm_p99_ms": quantile(took_ms, 0.99), "line_slurm_max_ms": max(took_ms)}


# ---- what a process costs ----------------------------------------------------------------------
def parent_of(pid):
    text = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    return int(text[text.rindex(")") + 2:].split()[1])


def agent_of(lab, node):
    """Pid of the node's agent, here."""
    def find():
        init = lab.lab_get("/nodes/" + node)["host_pid"]
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                if (entry / "comm").read_text(encoding="utf-8").strip() != "tundish-agent":
                    continue
                pid = int(entry.name)
                while pid > 1:
                    pid = parent_of(pid)
                    if pid == init:
                        return int(entry.name)
            except OSError:
                continue
        return None
    return lab.wait("the agent runs", find, 20)


def cpu_s_of(pid):
    """Of its threads and of the children that it waited for."""
    text = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    return sum(int(x) for x in text[text.rindex(")") + 2:].split()[11:15]) / 100


def rss_mib_of(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(re.search(r"VmRSS:\s+(\d+)", text).group(1)) / 1024


def pss_mib_of(pid):
    text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8")
    return int(re.search(r"Pss:\s+(\d+)", text).group(1)) / 1024


class Peers:
    """Two prometheus-node-exporters, one that nobody asks and one that is asked every 15 s, and
    rasdaemon. What of them is not installed or ends at once is left out."""
    PORTS = (19100, 19101)
    RASDAEMON = ("mount -t debugfs none /sys/kernel/debug; "
                 "exec rasdaemon --foreground")  # in a mount namespace of its own

    def __init__(self):
        self.processes = {}

    def __enter__(self):
        exporter = shutil.which("prometheus-node-exporter")
        for port, name in zip(self.PORTS, ("exporter_idle", "exporter_scraped")):
            if exporter:
                self.start(name, [exporter, f"--web.listen-address=127.0.0.1:{port}"])
        if shutil.which("rasdaemon"):
            self.start("rasdaemon_idle", ["unshare", "-m", "sh", "-c", self.RASDAEMON])
        time.sleep(2)
        self.processes = {k: p for k, p in self.processes.items() if p.poll() is None}
        return self

    def start(self, name, argv):
        self.processes[name] = subprocess.Popen(argv, stdout=subprocess.DEVNULL,
                                                stderr=subprocess.DEVNULL)

    def scrape(self):
        if "exporter_scraped" in self.processes:
            urllib.request.urlopen(f"http://127.0.0.1:{self.PORTS[1]}/metrics", timeout=10).read()

    def __exit__(self, *_):
        for process in self.processes.values():
            process.kill()
            process.wait()


def idle_cost(lab, seconds):
    node = next(n["meta"]["name"] for n in lab.get("/v1/nodes") if n["spec"]["role"] == "gpu")
    agent = agent_of(lab, node)
    settled(lab)
    time.sleep(15)
    with Peers() as peers:
        pids = {"agent_idle": agent} | {name: p.pid for name, p in peers.processes.items()}
        before = {name: cpu_s_of(pid) for name, pid in pids.items()}
        begin = time.time()
        scrapes = 0
        while time.time() < begin + seconds:
            if time.time() >= begin + 15 * scrapes:
                peers.scrape()
                scrapes += 1
            time.sleep(0.2)
        took = time.time() - begin
        out = {f"{name}_cpu_percent": 100 * (cpu_s_of(pid) - before[name]) / took
               for name, pid in pids.items()}
        out |= {"agent_rss_mib": rss_mib_of(agent), "agent_pss_mib": pss_mib_of(agent)}
        for name, key in (("exporter_scraped", "exporter"), ("rasdaemon_idle", "rasdaemon")):
            if name in pids:
                out[key + "_rss_mib"] = rss_mib_of(pids[name])
    return out


def jitter(lab, program, seconds):
    """A fixed loop on the agent's core, with the agent and without."""
    node = next(n["meta"]["name"] for n in lab.get("/v1/nodes") if n["spec"]["role"] == "gpu")
    core = str(os.cpu_count() - 1)

    def measure():
        text = subprocess.run([program, core, str(seconds)], text=True, capture_output=True,
                              check=True, timeout=seconds + 30).stdout
        return {f["figure"]: f["value"] for f in map(json.loads, text.splitlines())}

    subprocess.run(["taskset", "-apc", core, str(agent_of(lab, node))], check=True,
                   capture_output=True)
    with_agent = measure()
    lab.lab_post("/agent", {"node": node, "action": "stop"})
    without = measure()
    lab.lab_post("/agent", {"node": node, "action": "start"})
    return ({"with_" + k: v for k, v in with_agent.items()} |
            {"without_" + k: v for k, v in without.items()})


def storm(lab, lines, seconds):
    """Decoys at 100,000 a minute, with one line of each fatal code hidden in them."""
    hold = lab.post("/v1/holds", {"scope": "*", "reason": "bench storm"})
    node = next(n for n in lab.get("/v1/nodes") if n["spec"]["role"] == "gpu")
    name = node["meta"]["name"]
    known = {i["id"] for i in lab.get("/v1/incidents?limit=10000")}
    agent, pci = agent_of(lab, name), lab.gpus(name)[0]
    before, peak = cpu_s_of(agent), 0.0
    codes = [48, 64, 79, 95, 119]
    steps = int(seconds * 10)
    begin = time.time()
    for step in range(steps):
        batch = [f"NVRM: Xid (PCI:{pci}): 43, pid={i}, name=python3, Ch 0000{i % 10000:04x}"
                 for i in range(step * lines // steps, (step + 1) * lines // steps)]
        if step % (steps // len(codes)) == 3:
            batch.insert(len(batch) // 2, xid_line(pci, codes[step * len(codes) // steps], "storm"))
        for i in range(0, len(batch), 50):
            lab.kernel_lines(name, batch[i:i + 50])
        peak = max(peak, rss_mib_of(agent))
        time.sleep(max(0.0, begin + (step + 1) / 10 - time.time()))
    took = time.time() - begin
    cpu = 100 * (cpu_s_of(agent) - before) / took

    def told():
        found = set()
        for incident in lab.get("/v1/incidents?limit=10000"):
            if incident["id"] not in known and incident["node"] == node["id"]:
                found |= {w["event"]["code"] for w in incident["witnesses"]}
        return found
    try:
        lab.wait("every code arrives", lambda: set(codes) <= told(), 15)
    except Problem:
        pass
    lost = sorted(set(codes) - told())
    if any(i["id"] not in known for i in lab.get("/v1/incidents?limit=10000")):
        give_back(lab, name)
    lab.call(lab.root + "/run/tundishd.sock", "DELETE", "/v1/holds/" + hold["id"], None)
    return {"storm_lines": lines, "storm_lines_per_min": 60 * lines / took,
            "storm_rss_mib": peak, "storm_cpu_percent": cpu, "storm_codes_lost": len(lost)}

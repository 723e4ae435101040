"""A lab of the bench's own, and HTTP over its two sockets."""
import http.client
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

TREE = pathlib.Path(__file__).resolve().parents[1]
CODES = {48: "pid='<unknown>', name=<unknown>, DBE (double bit error) ECC error",
         64: "pid='<unknown>', name=<unknown>, Row Remapper Error: (0x1a2b) - All reserved rows",
         79: "pid=4242, name=python3, GPU has fallen off the bus.",
         95: "pid=4242, name=python3, Uncontained: FBHUB. RST: Yes, D-RST: No",
         119: "pid=4242, name=python3, Timeout after 45s of waiting for RPC response from GPU0"}


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Problem(Exception):
    """A measurement could not be made."""


class Lab:
    def __init__(self, binaries, nodes):
        self.binaries, self.nodes = binaries, nodes
        self.work = tempfile.mkdtemp(prefix="tundish-bench-")
        self.root = self.work + "/lab"
        self.name = f"b{os.getpid()}"
        self.env = dict(os.environ, TERM="dumb", XDG_CONFIG_HOME=self.work + "/config")
        for key in ("TUNDISH_API", "TUNDISH_TOKEN"):
            self.env.pop(key, None)
        self.clients = {}

    def __enter__(self):
        try:
            self.run("lab", "up", "--name", self.name, "--root", self.root, "--nodes",
                     str(self.nodes), "--racks", "1", "--login-nodes", "1", "--fabric", "flat")
            os.makedirs(self.work + "/site")
            subprocess.run(["python3", TREE / "tests/lab/lib/sheets.py", self.work + "/site",
                            self.name, str(self.nodes), "1", "1", "flat"], check=True)
            with open(self.root + "/secrets/operator.token", encoding="utf-8") as file:
                self.token = file.read().strip()
            sheets = sorted(str(p) for p in pathlib.Path(self.work + "/site").glob("*.csv"))
            self.run("inventory", "import", *sheets)
            self.wait("every node is ready", lambda: all(
                n["status"]["phase"] == "ready" for n in self.get("/v1/nodes")), 60)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for client in self.clients.values():
            client.close()
        subprocess.run([self.binaries + "/tundish", "lab", "down", "--lab", self.root],
                       env=self.env, capture_output=True, timeout=120, check=False)
        shutil.rmtree(self.work, ignore_errors=True)

    def run(self, *argv, limit=120):
        done = subprocess.run([self.binaries + "/tundish", *argv], env=self.env, text=True,
                              capture_output=True, timeout=limit, check=False)
        if done.returncode != 0:
            raise Problem(f"tundish {' '.join(argv)}: {done.stdout}{done.stderr}")
        return done.stdout

    def call(self, path, method, url, body):
        """One request on a kept connection; made anew when the far end closed it."""
        headers = {"Content-Type": "application/json"}
        if path.endswith("tundishd.sock"):
            headers["Authorization"] = "Bearer " + self.token
        text = None if body is None else json.dumps(body)
        for attempt in (1, 2):
            client = self.clients.get(path) or UnixConnection(path)
            self.clients[path] = client
            try:
                client.request(method, url, text, headers)
                answer = client.getresponse()
                data = answer.read().decode()
                break
            except (http.client.HTTPException, OSError):
                client.close()
                self.clients.pop(path)
                if attempt == 2:
                    raise
        if answer.status >= 300:
            raise Problem(f"{method} {url}: {answer.status} {data}")
        return json.loads(data) if data.strip() else {}

    def get(self, url):
        return self.call(self.root + "/run/tundishd.sock", "GET", url, None)

    def post(self, url, body):
        return self.call(self.root + "/run/tundishd.sock", "POST", url, body)

    def lab_get(self, url):
        return self.call(self.root + "/run/lab.sock", "GET", url, None)

    def lab_post(self, url, body):
        return self.call(self.root + "/run/lab.sock", "POST", url, body)

    def exec_argv(self, node, *argv):
        return [self.binaries + "/tundish", "lab", "exec", "--lab", self.root, node, "--", *argv]

    @staticmethod
    def wait(what, probe, limit, pause=0.1):
        end = time.time() + limit
        while True:
            try:
                found = probe()
            except (Problem, IndexError, KeyError):
                found = None
            if found:
                return found
            if time.time() > end:
                raise Problem(f"not within {limit} s: {what}")
            time.sleep(pause)

    def gpus(self, node):
        """PCI addresses of a node's GPUs."""
        return [g["pci"] for g in self.get("/v1/nodes/" + node)["status"]["hardware"]["gpus"]]

    def kernel_lines(self, node, lines):
        """Real kernel records; no hardware fails."""
        self.lab_post("/fault", {"node": node, "gpu": 0, "kind": "none", "sticky": False,
                                 "line": "\n".join(lines), "level": 4, "facility": "kernel"})


def xid_line(pci, code, mark):
    """`mark` makes the line distinct, so that the storm filter does not hold it back."""
    return f"NVRM: Xid (PCI:{pci}): {code}, {CODES[code]} [{mark}]"

"""What the demos share: a lab of their own, the command line, waiting, and a judge."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

TREE = pathlib.Path(__file__).resolve().parents[2]
BOLD, DIM, GREEN, RED, CYAN, OFF = (
    ("\033[1m", "\033[2m", "\033[32m", "\033[31m", "\033[36m", "\033[0m")
    if sys.stdout.isatty() else ("",) * 6)
PATIENCE = int(os.environ.get("TUNDISH_PATIENCE", "3"))


class Failed(Exception):
    """A step did not do what it must."""


def out(text=""):
    print(text, flush=True)


class Stage:
    """One lab, its tenants' keys, and the commands a person would type."""

    def __init__(self, keep):
        self.keep = keep
        self.begin = time.time()
        self.folder = tempfile.mkdtemp(prefix="tundish-demo-")
        if keep:
            os.makedirs(TREE / "build" / "demo", exist_ok=True)
            self.folder = str(TREE / "build" / "demo")
            for old in pathlib.Path(self.folder).glob("*"):
                old.unlink()
        self.env = dict(os.environ, TERM="dumb")
        self.env.pop("TUNDISH_API", None)
        self.env.pop("TUNDISH_TOKEN", None)
        if not keep:
            self.env["XDG_CONFIG_HOME"] = self.folder + "/config"
        self.verdicts = []
        self.code = 0  # of the last command
        self.up = False

    # -- talking ---------------------------------------------------------------------------
    def title(self, text):
        out()
        out(f"{BOLD}{CYAN}[{time.time() - self.begin:6.1f} s] {text}{OFF}")

    def say(self, text):
        for line in text.rstrip("\n").splitlines():
            out(f"  {line}")

    def judge(self, what, holds, detail=""):
        self.verdicts.append((what, bool(holds)))
        mark = f"{GREEN}ok{OFF}" if holds else f"{RED}WRONG{OFF}"
        out(f"    {mark}  {what}" + (f"  {DIM}{detail}{OFF}" if detail else ""))
        if not holds:
            raise Failed(what + (f": {detail}" if detail else ""))

    # -- doing -----------------------------------------------------------------------------
    def run(self, *argv, show=True, expect=0, stdin=None, quiet=False, limit=180):
        if show:
            out(f"  {DIM}${OFF} tundish {' '.join(argv)}")
        done = subprocess.run(["tundish", *argv], env=self.env, input=stdin, text=True,
                              capture_output=True, timeout=limit)
        self.code = done.returncode
        if show and not quiet:
            self.say(done.stdout + done.stderr)
        if expect is not None and done.returncode != expect:
            raise Failed(f"tundish {' '.join(argv)}: exit {done.returncode}, expected {expect}\n"
                         f"{done.stdout}{done.stderr}")
        return done.stdout

    def get(self, *argv):
        return json.loads(self.run(*argv, "-o", "json", show=False))

    def wait(self, what, probe, limit=60, pause=0.3):
        """Polls until `probe` returns something true; returns it. `limit` is what a machine of its
        own takes at most; a busy one gets PATIENCE times as long (what is judged by its speed says
        so itself)."""
        limit *= PATIENCE
        deadline = time.time() + limit
        while True:
            try:
                found = probe()
            except (Failed, json.JSONDecodeError, KeyError, IndexError):
                found = None
            if found:
                return found
            if time.time() > deadline:
                raise Failed(f"not within {limit} s: {what}")
            time.sleep(pause)

    def key(self, user):
        path = f"{self.folder}/{user}"
        if not os.path.exists(path):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)
        return path

    def on_login(self, cluster, user, command, stdin=None, show=True, limit=60):
        """As that user on the cluster's login node, by ssh with the user's own key."""
        if show:
            out(f"  {DIM}{user}@{cluster}-login ${OFF} {command}")
        argv = ["tundish", "cluster", "exec", cluster, "--user", user, "--identity",
                self.key(user), "--", command]
        done = subprocess.run(argv, env=self.env, input=stdin, text=True, capture_output=True,
                              timeout=limit)
        if done.returncode != 0:
            raise Failed(f"{command}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        if show:
            self.say(done.stdout)
        return done.stdout

    def lab_call(self, path, body=None):
        argv = ["curl", "-s", "-S", "--fail-with-body", "--unix-socket",
                self.root() + "/run/lab.sock", "http://lab" + path]
        if body is not None:
            argv += ["-X", "POST", "-d", json.dumps(body)]
        done = subprocess.run(argv, text=True, capture_output=True, timeout=60)
        if done.returncode != 0:
            raise Failed(f"lab {path}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout) if done.stdout.strip() else {}

    def root(self):
        return "/var/lib/tundish-lab/lab"

    # -- beginning and end -----------------------------------------------------------------
    def close(self, failed):
        if self.up and failed and os.path.exists(self.root() + "/log"):
            kept = TREE / "build" / "log" / "demo"
            shutil.rmtree(kept, ignore_errors=True)
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(self.root() + "/log", kept)
            out(f"logs of the lab: {kept.relative_to(TREE)}")
        if self.up and not self.keep:
            subprocess.run(["tundish", "lab", "down"], env=self.env, capture_output=True,
                           timeout=120)
        if not self.keep:
            shutil.rmtree(self.folder, ignore_errors=True)


def play(story, keep):
    """Runs a story; always leaves the machine as it was, also after Ctrl-C."""
    stage = Stage(keep)
    code = 0
    try:
        story(stage)
        good = sum(1 for _, holds in stage.verdicts if holds)
        stage.title(f"{GREEN}the demo holds: {good} of {len(stage.verdicts)} judgements{OFF}")
    except Failed as fault:
        code = 1
        out(f"\n{RED}the demo failed:{OFF} {fault}")
    except KeyboardInterrupt:
        code = 130
        out("\nstopped")
    except subprocess.TimeoutExpired as fault:
        code = 1
        out(f"\n{RED}the demo failed:{OFF} {fault}")
    finally:
        stage.close(code not in (0, 130))
    return code

"""What the simulated switches share: a server, troubles, a configuration made of lines.

A switch keeps three things apart: what it *accepted*, what it *applied* (this is what it shows and
would forward by) and what it *saved*. Troubles come between the first two.

Control of a simulator, beside the vendor's API:
  GET  /sim/applied | /sim/accepted | /sim/saved     the configuration as text
  POST /sim/trouble   {"name": NAME, "word": TEXT}   for the next change, unless the name is "none"
  POST /sim/load      text: takes the place of the configuration, as by hand

Troubles: unapplied, half, late (0.6 s), lost_answer (it happens, the answer never comes), refuse
(a command with the word fails).
"""
import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LATE = 0.6
LOST = 8.0  # longer than any client waits


class Refused(Exception):
    pass


class Troubles:
    def __init__(self):
        self.name = "none"
        self.word = ""

    def take(self, *names):
        """True once, when one of the names is due."""
        if self.name not in names:
            return False
        self.name = "none"
        return True

    def check(self, command):
        if self.name == "refuse" and self.word in command:
            raise Refused(command)


class Lines:
    """Modes by indentation. `single` are keys that hold one value in a mode."""

    def __init__(self, text="", unit=3, single=(), hidden=()):
        self.unit, self.single, self.hidden = unit, single, hidden
        self.root = []
        stack = [(-1, self.root)]
        for raw in text.splitlines():
            line = raw.strip()
            if not line or line.startswith("!"):
                continue
            column = len(raw) - len(raw.lstrip())
            while stack[-1][0] >= column:
                stack.pop()
            inner = []
            stack[-1][1].append([line, inner])
            stack.append((column, inner))

    def copy(self):
        return Lines(self.text(), self.unit, self.single, self.hidden)

    def text(self, mode=None, depth=0):
        out = ""
        for line, inner in self.root if mode is None else mode:
            out += " " * (self.unit * depth) + line + "\n" + self.text(inner, depth + 1)
            if depth == 0 and inner:
                out += "!\n"
        return out

    @staticmethod
    def begins(line, key):
        return line == key or line.startswith(key + " ")

    def enter(self, path, command):
        """Runs a command in the mode that the headers of `path` lead to."""
        mode = self.root
        for header in path:
            found = [inner for line, inner in mode if line == header]
            if not found:
                mode.append([header, []])
                found = [mode[-1][1]]
            mode = found[0]
        if command.startswith("default interface "):
            name = command[len("default "):]
            for entry in mode:
                if entry[0] == name:
                    entry[1].clear()
            return
        if command in self.hidden:
            opposite = command[3:] if command.startswith("no ") else "no " + command
            mode[:] = [entry for entry in mode if entry[0] != opposite]
            return
        if command.startswith("no ") and command not in ("no switchport", "no shutdown"):
            what = command[3:]
            mode[:] = [entry for entry in mode if not self.begins(entry[0], what)]
            return
        for key in self.single:
            if self.begins(command, key) and not self.begins(command, key + " instance"):
                mode[:] = [e for e in mode if not self.begins(e[0], key) or e[1] or e[0] == command]
        if command in ("shutdown", "no shutdown", "switchport", "no switchport"):
            other = command[3:] if command.startswith("no ") else "no " + command
            mode[:] = [entry for entry in mode if entry[0] != other]
        if all(line != command for line, _ in mode):
            mode.append([command, []])
            if command[0].isdigit() or command.startswith("seq "):
                number = lambda e: int(e[0].split()[1 if e[0].startswith("seq ") else 0])
                mode.sort(key=number)


class Session:
    """A command line: commands with their modes, on a copy of a configuration."""

    def __init__(self, lines):
        self.lines = lines
        self.path, self.columns = [], []

    def run(self, raw):
        command = raw.strip()
        if command == "exit":
            if not self.columns:
                raise Refused("exit at the top leaves the session")
            self.columns.pop()
            del self.path[len(self.columns):]
            return
        column = len(raw) - len(raw.lstrip())
        # A real switch knows modes by their grammar; the depth has to fit what was left by exits.
        if column <= (self.columns[-1] if self.columns else 0):
            del self.path[len(self.columns):]
        elif len(self.path) == len(self.columns) + 1:
            self.columns.append(column)
        else:
            raise Refused("'" + command + "' is in no mode")
        if column < (self.columns[-1] if self.columns else 0):
            raise Refused("'" + command + "' would be taken in " + " / ".join(self.path))
        self.lines.enter(self.path, command)
        self.path.append(command)


class Switch:
    """`accepted`, `applied` and `saved` are whatever the vendor's copy() and text() understand."""

    def __init__(self, config, show):
        self.lock = threading.RLock()
        self.troubles = Troubles()
        self.show = show
        self.accepted = self.applied = self.saved = config

    def commit(self, changed, half):
        """`half`: makes the configuration with the first half of the change."""
        part = half()
        self.accepted = changed
        if self.troubles.take("unapplied"):
            return
        if self.troubles.take("half"):
            self.accepted = self.applied = part
            raise Refused("internal error half-way")
        if self.troubles.take("late"):
            threading.Timer(LATE, self.apply, [changed]).start()
            return
        self.apply(changed)

    def apply(self, config):
        with self.lock:
            self.applied = config

    def answer_is_lost(self):
        return self.troubles.take("lost_answer")


def serve(switch, load, handle):
    """Prints its port; ends with its standard input. `handle(method, path, body)`: status, answer;
    the answer is
    JSON, XML as text, or None for none at all."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def reply(self, status, text, kind="application/json"):
            data = text.encode()
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def control(self, what, body):
            with switch.lock:
                if what == "trouble":
                    wanted = json.loads(body)
                    switch.troubles.name = wanted["name"]
                    switch.troubles.word = wanted.get("word", "")
                elif what == "load":
                    switch.accepted = switch.applied = load(body)
                else:
                    return self.reply(200, switch.show(getattr(switch, what)), "text/plain")
            return self.reply(200, "{}")

        def any(self):
            body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
            if self.path.startswith("/sim/"):
                return self.control(self.path[len("/sim/"):], body)
            status, answer = handle(self.command, self.path, body)
            if answer is None:
                time.sleep(LOST)
                self.close_connection = True
                return None
            if isinstance(answer, str):
                return self.reply(status, answer, "application/xml")
            return self.reply(status, json.dumps(answer))

        do_GET = do_POST = do_PATCH = do_DELETE = any

    class Server(ThreadingHTTPServer):
        daemon_threads = True

    server = Server(("127.0.0.1", 0), Handler)
    switch.url = "http://127.0.0.1:%d" % server.server_address[1]
    sys.stdout.write("%d\n" % server.server_address[1])
    sys.stdout.flush()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()

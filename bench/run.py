"""Runs every measurement and prints one table: what, aim, measured, beside what."""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import lab_figures
import slurm_burst
from bench_site import TREE, Lab

QUIET_LOAD = 0.7  # runnable tasks before we begin, above which wall times mean little
parser = argparse.ArgumentParser(prog="./dev bench")
parser.add_argument("binaries")
parser.add_argument("--long", action="store_true", help="1,000 injections, a minute of storm")
parser.add_argument("--only", default="", help="comma-separated: " +
                    "lab, burst, agents, restart, placement, sim, verify, store, network")
options = parser.parse_args()
figures, problems, commands, rows = {}, {}, {}, []


def program(name, *argv, limit=120):
    """Figures that a bench program prints; a figure told several times becomes its median."""
    argv = [f"{options.binaries}/{name}", *map(str, argv)]
    done = subprocess.run(argv, text=True, capture_output=True, timeout=limit, check=False)
    several = {}
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            figure = json.loads(line)
            several.setdefault(figure["figure"], []).append(figure["value"])
    if done.returncode != 0:
        problems[name] = (done.stderr or done.stdout).strip()[-300:]
    return {key: lab_figures.quantile(values, 0.5) for key, values in several.items()}, done.stdout


def section(name, work):
    if options.only and name not in options.only.split(","):
        return
    begin = time.time()
    print(f"  {name} ...", end="", file=sys.stderr, flush=True)
    try:
        work()
    except Exception as fault:  # the other figures are still worth having
        problems[name] = f"{type(fault).__name__}: {fault}"[:400]
    print(f" {time.time() - begin:.0f} s", file=sys.stderr, flush=True)


# ---- the measurements --------------------------------------------------------------------------
def in_lab():
    long = options.long
    with Lab(options.binaries, 4) as lab:
        for part, measure in (
                ("line to incident", lambda: lab_figures.line_to_incident(
                    lab, 180 if long else 30, 1000)),
                ("line to Slurm", lambda: lab_figures.line_to_slurm(
                    lab, 300 if long else 40, 1000)),
                ("idle", lambda: lab_figures.idle_cost(lab, 60 if long else 46)),
                ("jitter", lambda: lab_figures.jitter(
                    lab, options.binaries + "/jitter_bench", 20 if long else 10)),
                ("storm", lambda: lab_figures.storm(lab, 100000 if long else 50000,
                                                    60 if long else 30))):
            try:
                figures.update(measure())
            except Exception as fault:
                problems[part] = f"{type(fault).__name__}: {fault}"[:400]


def burst():
    out = TREE / "build/bench-burst"
    out.mkdir(parents=True, exist_ok=True)
    told, _ = program("burst_bench", TREE / "catalog", out, 750, limit=150)
    figures.update(told)
    commands_file = out / "burst_commands.txt"
    if commands_file.exists():
        figures.update(slurm_burst.measure(out, 750, commands_file))
    if {"burst_sqlite_cpu_s", "slurm_apply_s"} <= figures.keys():
        figures["burst_all_s"] = (figures["burst_sqlite_cpu_s"] + figures["slurm_look_s"] +
                                  figures["slurm_apply_s"])


def daemon(mode, *argv):
    figures.update(program("daemon_bench", options.binaries + "/tundishd", TREE / "catalog",
                           TREE / "build", mode, *argv)[0])


def agents():
    daemon("agents", 2000, 60 if options.long else 30)
    for kind in ("tenant", "cluster"):
        half, most = (figures.get(f"{kind}_create_64_{part}_ms") for part in ("p50", "p99"))
        if half and most:
            figures[f"{kind}_create_ratio"] = most / half


def placement():
    _, text = program("placement_bench")
    found = [(float(a), float(b)) for a, b in re.findall(
        r"(\d+) gangs/s .*?p99 ([\d.]+) ", text)]
    figures["placement_gangs_per_s"] = min(rate for rate, _ in found)
    figures["placement_p99_ms"] = max(p99 for _, p99 in found)
    line = re.search(r"^0\.70\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)", text, re.M)
    for name, value in zip(("most_free", "random", "first_fit", "best_fit"), line.groups()):
        figures[f"accepted_{name}_percent"] = float(value)


def simulator():
    _, text = program("tundish-sim", "--quiet-days", 365)
    figures["sim_node_years_per_s"] = float(re.search(r"\(([\d.]+) node-years/s", text).group(1))
    _, text = program("tundish-sim", "--seeds", 20)
    took = sum(float(ms) for ms in re.findall(r"simulated in (\d+) ms", text))
    figures["sim_seeds_per_s"] = 20000 / took


def verifier():
    figures.update(program("verify_bench", TREE / "catalog")[0])


def store():
    _, text = program("store_bench", TREE / "build")
    figures["store_commits_per_s"] = float(re.search(r"batch\s+1:\s+(\d+) commits", text).group(1))
    figures["store_load_s"] = float(re.search(r"registry: ([\d.]+) s", text).group(1))


def network():
    """Plan and audit of one fabric, and render, read-back and steps of the slowest vendor."""
    figures.update(program("network_bench")[0])
    vendors, _ = program("switches_bench")
    slowest = max(vendors, key=vendors.get)
    figures["network_texts_s"] = vendors[slowest]
    figures["network_slowest"] = slowest.removeprefix("switches_").removesuffix("_s")
    figures["network_texts_best_s"] = min(vendors.values())
    figures["network_all_s"] = (figures["network_audit_s"] + figures["network_diff_s"] +
                                figures["network_texts_s"])


# ---- the table ---------------------------------------------------------------------------------
def row(what, aim, key, form, met=None, beside=""):
    """`met` judges the value; None: a figure without an aim."""
    value = figures.get(key)
    if value is None:
        return rows.append((what, aim, "not measured", "-", ""))
    parts = []
    for part in beside.split("; "):
        try:
            parts.append(part.format(**figures))
        except KeyError:  # of a peer that is not installed
            continue
    text = "; ".join(parts)
    mark = "" if met is None else "yes" if met(value) else "NO"
    rows.append((what, aim, form.format(value), mark, text))


def fill():
    row("kernel line -> incident, p99", "< 100 ms", "line_incident_p99_ms", "{:.1f} ms",
        lambda v: v < 100, "p50 {line_incident_p50_ms:.1f} ms, {line_incident_count} lines; "
        "durable and told to a watcher p50 {line_seen_p50_ms:.1f}, p99 {line_seen_p99_ms:.1f} ms")
    row("kernel line -> Slurm refuses work, p99", "< 1 s", "line_slurm_p99_ms", "{:.0f} ms",
        lambda v: v < 1000, "p50 {line_slurm_p50_ms:.0f}, max {line_slurm_max_ms:.0f} ms, "
        "{line_slurm_count} lines, {line_slurm_failures} never")
    row("750 at once: controllers + scontrol", "< 5 s", "burst_all_s", "{:.2f} s",
        lambda v: v < 5, "controllers {burst_sqlite_cpu_s:.2f} s CPU, scontrol looks "
        "{slurm_look_s:.2f} s, sets {slurm_apply_s:.2f} s; one command for all: "
        "{slurm_one_command_s:.3f} s")
    row("  controllers over the memory store", "", "burst_memory_cpu_s", "{:.2f} s CPU", None,
        "750 reports taken {burst_memory_intake_cpu_s:.2f} s; {burst_memory_update_nodes:.0f} "
        "commands in {burst_memory_engine_calls:.0f} calls")
    row("agent idle, CPU", "< 0.1 %", "agent_idle_cpu_percent", "{:.3f} %", lambda v: v < 0.1,
        "node-exporter idle {exporter_idle_cpu_percent:.3f} %, scraped every 15 s "
        "{exporter_scraped_cpu_percent:.3f} %; rasdaemon {rasdaemon_idle_cpu_percent:.3f} %")
    row("agent idle, memory", "< 32 MiB", "agent_rss_mib", "{:.1f} MiB", lambda v: v < 32,
        "PSS {agent_pss_mib:.1f} MiB; node-exporter {exporter_rss_mib:.1f} MiB; rasdaemon "
        "{rasdaemon_rss_mib:.1f} MiB")
    row("fixed 1 ms loop beside the agent, p99.9", "as without", "with_jitter_p999_ms",
        "{:.3f} ms", lambda v: v <= 1.05 * figures["without_jitter_p999_ms"],
        "without {without_jitter_p999_ms:.3f} ms; p50 {with_jitter_p50_ms:.3f} and "
        "{without_jitter_p50_ms:.3f} ms")
    row("storm on one agent, memory", "bounded", "storm_rss_mib", "{:.1f} MiB", lambda v: v < 32,
        "{storm_lines} lines at {storm_lines_per_min:.0f}/min, {storm_cpu_percent:.1f} % CPU")
    row("storm, fatal codes lost", "0", "storm_codes_lost", "{}", lambda v: v == 0)
    row("placement on 10,000 nodes", ">= 1,000 gangs/s", "placement_gangs_per_s", "{:.0f} gangs/s",
        lambda v: v >= 1000, "slowest of three layouts")
    row("placement, p99", "<= 10 ms", "placement_p99_ms", "{:.2f} ms", lambda v: v <= 10)
    row("trays accepted at load 0.70", ">= 99 %", "accepted_best_fit_percent", "{:.1f} %",
        lambda v: v >= 99, "most-free {accepted_most_free_percent:.1f}, random "
        "{accepted_random_percent:.1f}, first-fit {accepted_first_fit_percent:.1f} %")
    row("tundishd with 2,000 agents, CPU", "<= 1 core", "agents_cpu_percent", "{:.1f} % of a core",
        lambda v: v <= 100, "{agents_rss_mib:.0f} MiB, {agents_syncs_per_s:.0f} reports/s, "
        "{agents_refused:.0f} refused")
    row("  report of an agent, p99", "", "agents_sync_p99_ms", "{:.2f} ms", None,
        "p50 {agents_sync_p50_ms:.2f} ms")
    row("restart with 10,000 nodes", "< 5 s", "restart_s", "{:.2f} s", lambda v: v < 5,
        "exec to first answer, median of 3; {restart_cpu_s:.2f} s CPU, {restart_rss_mib:.0f} MiB")
    for kind in ("tenant", "cluster"):
        row(f"create {kind}, 1 in flight, p99/p50", "<= 2", f"{kind}_create_1_p50_ms",
            "{:.2f} ms p50", lambda v, k=kind: figures[f"{k}_create_1_p99_ms"] <= 2 * v,
            f"p99 {{{kind}_create_1_p99_ms:.2f}} ms")
        row(f"create {kind}, 64 in flight, p99/p50", "<= 2", f"{kind}_create_ratio", "{:.2f}",
            lambda v: v <= 2, f"p50 {{{kind}_create_64_p50_ms:.1f}}, p99 "
            f"{{{kind}_create_64_p99_ms:.1f}} ms, {{{kind}_create_refused:.0f}} refused")
    row("simulator", ">= 100 node-years/s", "sim_node_years_per_s", "{:.0f} node-years/s",
        lambda v: v >= 100, "with faults and crashes {sim_seeds_per_s:.1f} seeds/s")
    row("policy proved: 11 properties", "< 2 s", "verify_s", "{:.2f} s", lambda v: v < 2,
        "{verify_states:.0f} states, {verify_transitions:.0f} transitions; a weakened one refuted "
        "in {refute_s:.2f} s")
    row("256 leaves x 200 tenants: render, read back, audit, diff", "<= 1 s", "network_all_s",
        "{:.2f} s", lambda v: v <= 1, "CPU; slowest kind of switch {network_slowest}: texts "
        "{network_texts_s:.2f} s, audit {network_audit_s:.2f} s, diff {network_diff_s:.2f} s; "
        "quickest kind {network_texts_best_s:.2f} s")
    row("store, one operation per commit", "", "store_commits_per_s", "{:.0f} commits/s", None,
        "10,000 nodes load in {store_load_s:.2f} s")


def machine():
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return {"cores": os.cpu_count(), "cpu": cpu.group(1) if cpu else "?",
            "kernel": os.uname().release, "load_before": os.getloadavg()[0],
            "commit": subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=TREE, text=True,
                                     capture_output=True, check=False).stdout.strip()}


def main():
    begin = time.time()
    on = machine()
    section("placement", placement)
    section("sim", simulator)
    section("verify", verifier)
    section("store", store)
    section("network", network)
    section("restart", lambda: daemon("restart", 10000))
    section("agents", agents)
    section("burst", burst)
    section("lab", in_lab)
    fill()
    shown = [r for r in rows if not options.only or r[2] != "not measured"]
    widths = [max(len(r[i]) for r in shown + [("figure", "aim", "measured", "met", "")])
              for i in range(4)]
    print(f"{on['cores']} cores of {on['cpu']}, Linux {on['kernel']}, commit {on['commit']}, "
          f"load {on['load_before']:.1f} before")
    if on["load_before"] > QUIET_LOAD:
        print("The machine was NOT quiet: latencies hold other programs' work; CPU times do not.")
    for r in [("figure", "aim", "measured", "met", "beside it"), *shown]:
        print("  ".join(text.ljust(width) for text, width in zip(r, widths)) + "  " + r[4])
    for name, text in problems.items():
        print(f"{name}: {text}")
    on["took_s"] = round(time.time() - begin, 1)
    (TREE / "build/bench.json").write_text(json.dumps(
        {"machine": on, "figures": figures, "problems": problems,
         "rows": [dict(zip(("figure", "aim", "measured", "met", "beside"), r)) for r in rows]},
        indent=1) + "\n")
    print(f"took {on['took_s']:.0f} s; all figures: build/bench.json")
    return 1 if problems else 0


sys.exit(main())

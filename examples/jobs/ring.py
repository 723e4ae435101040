#!/usr/bin/env python3
"""One rank per node: passes numbers around a ring each step, checks the sum, keeps its step.

Stands for a training job in everything that matters to the cluster: all ranks must be there, a
step needs all of them, the step is checkpointed, and a restart goes on from the checkpoint.
Writes one JSON line per step (rank 0) to FOLDER/steps.jsonl.
"""
import json
import os
import socket
import struct
import sys
import time

PORT = 29500


def exact(sock, count):
    data = b""
    while len(data) < count:
        part = sock.recv(count - len(data))
        if not part:
            raise SystemExit("a neighbour left the ring")
        data += part
    return data


def ring(rank, hosts):
    """Sockets to the next and from the previous rank."""
    server = socket.create_server(("", PORT + rank), reuse_port=True)
    right = (rank + 1) % len(hosts)
    deadline = time.time() + 60
    while True:
        try:
            to_next = socket.create_connection((hosts[right], PORT + right), timeout=2)
            break
        except OSError:
            if time.time() > deadline:
                raise SystemExit(f"rank {rank} cannot reach {hosts[right]}")
            time.sleep(0.1)
    from_previous, _ = server.accept()
    for sock in (to_next, from_previous):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.settimeout(30)
    return to_next, from_previous


def all_sum(value, ranks, to_next, from_previous):
    """Ring all-reduce of one number: after ranks-1 passes everybody has seen every value."""
    total, moving = value, value
    for _ in range(ranks - 1):
        to_next.sendall(struct.pack("!q", moving))
        moving = struct.unpack("!q", exact(from_previous, 8))[0]
        total += moving
    return total


def main():
    folder, steps = sys.argv[1], int(sys.argv[2])
    rank = int(os.environ["SLURM_PROCID"])
    hosts = sys.argv[3].split(",")
    gpus = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
    checkpoint = f"{folder}/checkpoint"
    begin = 0
    if os.path.exists(checkpoint):
        with open(checkpoint) as file:
            begin = int(file.read())
    to_next, from_previous = ring(rank, hosts)
    for step in range(begin, steps):
        expected = sum((r + 1) * (step + 1) for r in range(len(hosts)))
        total = all_sum((rank + 1) * (step + 1), len(hosts), to_next, from_previous)
        if total != expected:
            raise SystemExit(f"step {step}: sum {total}, expected {expected}")
        if rank == 0:
            line = {"step": step, "at": time.time(), "sum": total, "ranks": len(hosts),
                    "gpus": len(gpus), "nodes": hosts,
                    "restart": int(os.environ.get("SLURM_RESTART_COUNT", "0"))}
            with open(f"{folder}/steps.jsonl", "a") as file:
                file.write(json.dumps(line) + "\n")
            if step % 5 == 4 or step == steps - 1:  # every fifth step: a restart repeats some
                with open(checkpoint + ".new", "w") as file:
                    file.write(str(step + 1))
                os.replace(checkpoint + ".new", checkpoint)
        time.sleep(0.2)
    all_sum(0, len(hosts), to_next, from_previous)
    if rank == 0:
        print(f"done: {steps} steps")


if __name__ == "__main__":
    main()

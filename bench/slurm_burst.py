"""A real slurmctld that declares every node of the burst, with no slurmd (facts/lab.md 10)."""
import os
import pathlib
import shutil
import subprocess
import sys
import time

CONF = """ClusterName=bench
SlurmctldHost=localhost
SlurmctldPort={port}
AuthType=auth/munge
AuthInfo=socket={work}/munge.sock
SlurmUser=root
SlurmctldParameters=enable_configless
StateSaveLocation={work}/state
SlurmctldPidFile={work}/ctld.pid
SlurmctldLogFile={work}/ctld.log
SlurmdPort=27999
SlurmdTimeout=0
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
MaxNodeCount=1024
NodeName=n[0001-{nodes:04d}] NodeAddr=127.0.0.1 CPUs=8 RealMemory=2000 State=CLOUD
PartitionName=main Nodes=ALL Default=YES State=UP
SuspendProgram=/bin/true
ResumeProgram=/bin/true
SuspendTime=3600
PrivateData=cloud
"""


def measure(work, nodes, commands):
    """Seconds of what the agent does with the commands: look at the nodes, then change them."""
    work = pathlib.Path(work) / "slurm"
    shutil.rmtree(work, ignore_errors=True)
    (work / "state").mkdir(parents=True)
    port = 26000 + os.getpid() % 2000
    (work / "slurm.conf").write_text(CONF.format(work=work, port=port, nodes=nodes))
    (work / "munge.key").write_bytes(os.urandom(128))
    os.chmod(work / "munge.key", 0o400)
    os.chmod(work, 0o755)
    env = dict(os.environ, SLURM_CONF=str(work / "slurm.conf"))
    daemons = []
    try:
        daemons.append(subprocess.Popen(
            ["munged", "--foreground", "--force", f"--socket={work}/munge.sock",
             f"--key-file={work}/munge.key", f"--pid-file={work}/munged.pid",
             f"--seed-file={work}/munged.seed", f"--log-file={work}/munged.log"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        wait(lambda: (work / "munge.sock").exists())
        daemons.append(subprocess.Popen(["slurmctld", "-D"], env=env, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL))
        wait(lambda: b"UP" in subprocess.run(["scontrol", "ping"], env=env, capture_output=True,
                                             check=False).stdout)
        lines = pathlib.Path(commands).read_text().splitlines()
        names = sorted({name for line in lines
                        for name in line.split("nodename=")[1].split()[0].split(",")})

        def feed(text):
            begin = time.time()
            done = subprocess.run(["scontrol", "-o"], input="\n".join(text) + "\n", text=True,
                                  env=env, capture_output=True, timeout=60, check=False)
            return time.time() - begin, done.stdout
        look_s, shown = feed(["show node " + ",".join(names)])
        if shown.count("NodeName=") != len(names):
            raise RuntimeError("a look at all nodes does not show all of them")
        apply_s, _ = feed(lines)
        _, shown = feed(["show nodes"])
        drained = shown.count("DRAIN")
        one_s, _ = feed([f"update nodename=n[0001-{nodes:04d}] state=drain "
                         'reason="tundish: all"'])
        return {"slurm_look_s": look_s, "slurm_apply_s": apply_s, "slurm_drained": drained,
                "slurm_one_command_s": one_s}
    finally:
        for daemon in reversed(daemons):
            daemon.terminate()
        for daemon in daemons:
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


def wait(probe, limit=20):
    end = time.time() + limit
    while not probe():
        if time.time() > end:
            raise RuntimeError("munged or slurmctld does not answer")
        time.sleep(0.02)


if __name__ == "__main__":
    print(measure(sys.argv[1], int(sys.argv[2]), sys.argv[3]))

# SPDX-License-Identifier: Apache-2.0
"""A Slurm cluster on this machine alone: its own munged, slurmctld and a slurmd for each node, in one
folder that goes with them. What the system has of Slurm or munge is neither used nor touched.

    class Topic(cluster.Case):
        NODES = 8                # n1 to n8
        CONFIGURATION = ""       # further lines of slurm.conf, in which {folder} is the cluster's

        def test_something(self):
            self.cluster.run("srun", "-N8", "true")

    if __name__ == "__main__":
        cluster.main(cluster.SLURM)

Any user can run it.
"""

import atexit
import ctypes
import importlib
import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "cli"))
harness = importlib.import_module("harness")

NODE_PROGRAM = os.path.join(harness.BUILD, "tests", "xferbench_fleet_node")
PATH = f"{os.environ.get('PATH', os.defpath)}:/usr/local/sbin:/usr/sbin:/sbin"  # users lack the daemons'
SLURM = ("munged", "mungekey", "setpriv", "slurmctld", "slurmd", "srun")
MPI = ("mpirun",)
# slurmctld 22.05 does not know itself by a longer one, and a longer one breaks mpirun 4.1.4, which then ends
# with "stack smashing detected".
LONGEST_HOST_NAME = {SLURM: 63, MPI: 56}
PR_SET_CHILD_SUBREAPER = 36

CONFIGURATION = """\
ClusterName=xferbench-test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdSpoolDir={folder}/%n
SlurmdPidFile={folder}/%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
MpiDefault=none
ReturnToService=2
KillWait=1
SchedulerParameters=batch_sched_delay=0
MessageTimeout=100
TCPTimeout=100
BatchStartTimeout=100
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def short_folder():
    """Not in TMPDIR: the path of a socket may have 108 bytes, of which Slurm and Open MPI take some."""
    return tempfile.mkdtemp(prefix="xferbench-", dir="/tmp")


def documented(first, measure):
    """The commands of docs/fleet.md that begin so, for these nodes; `measure` is measured."""
    with open(os.path.join(harness.SOURCE, "docs", "fleet.md"), encoding="utf-8") as file:
        blocks = file.read().split("\n\n")
    (block,) = [block for block in blocks if block.startswith(f"    {first}")]
    return textwrap.dedent(block).replace("xferbench link", measure).replace("gpu[", "n[")


def write_program(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o755)
    return path


def free_ports(count):
    """Ports that nobody listens on, below those that the kernel gives to whoever connects: he could take one before
    its daemon does."""
    found = {}
    while len(found) < count:
        port = random.randrange(10000, 32768)
        try:
            found[port] = socket.create_server(("127.0.0.1", port))
        except OSError:
            pass  # taken, also by this loop
    for one in found.values():
        one.close()
    return list(found)


def leave_orderly():
    """Where this process is told to end, it ends as by Ctrl-C: the default's end knows no atexit."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)


class Leaving(harness.Case):
    """Leaves no process and no folder behind where the test is told to end."""

    def setUp(self):
        leave_orderly()
        super().setUp()

    def run(self, result=None):
        try:
            return super().run(result)
        except KeyboardInterrupt:
            self.doCleanups()  # unittest does without
            raise


class Slurm:
    def __init__(self, nodes, configuration):
        self.folder = short_folder()
        self.names = [f"n{i + 1}" for i in range(nodes)]
        self.environment = {"PATH": f"{self.folder}/bin:{PATH}", "SLURM_CONF": f"{self.folder}/slurm.conf"}
        self.daemons = []
        # The steps of jobs lose their parent. Then they become children of this process, which finds them.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        atexit.register(self.end)
        leave_orderly()
        for name in ("bin", "state", *self.names):
            os.mkdir(f"{self.folder}/{name}")
        self.write_configuration(configuration)
        self.start_munge()
        self.start("slurmctld", "-D")
        for name in self.names:
            self.start("slurmd", "-D", "-N", name)
        self.wait_until(lambda: self.states() == dict.fromkeys(self.names, "idle"))

    def write_configuration(self, further):
        user = pwd.getpwuid(os.geteuid()).pw_name
        host = socket.gethostname().split(".")[0]
        ports = free_ports(len(self.names) + 1)
        text = CONFIGURATION.format(folder=self.folder, user=user, host=host, port=ports[0])
        for name, port in zip(self.names, ports[1:]):
            text += f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1\n"
        with open(f"{self.folder}/slurm.conf", "w", encoding="ascii") as file:
            file.write(text + further.format(folder=self.folder))

    def start_munge(self):
        files = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
        options = [f"--{option}={self.folder}/munge.{end}" for option, end in files.items()]
        self.run("mungekey", "-c", "-k", f"{self.folder}/munge.key")
        self.start("munged", "--foreground", "--force", *options)
        self.wait_until(lambda: os.path.exists(f"{self.folder}/munge.socket"))

    def start(self, *command):
        """A daemon, which ends also where this process is killed."""
        with open(f"{self.folder}/{len(self.daemons)}-{command[0]}.txt", "wb") as said:
            daemon = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *command],
                env=self.environment,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
            )
        self.daemons.append(daemon)

    def end_node(self, name):
        """As a node that crashes: its slurmd says nothing any more."""
        daemon = next(one for one in self.daemons if one.args[-2:] == ["-N", name])
        self.daemons.remove(daemon)
        daemon.kill()
        daemon.wait()

    def run(self, *command, may_fail=False):
        """Its standard output."""
        done = subprocess.run(
            command,
            env=self.environment,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=harness.GUARD_S,
            check=False,
        )
        if done.returncode != 0 and not may_fail:
            raise AssertionError(f"{command}: exit {done.returncode}\n{done.stdout}\n{done.stderr}\n{self.said()}")
        return done.stdout

    def states(self):
        """Of every node, in sinfo's short words: {"n1": "idle"}. Empty while slurmctld does not answer."""
        return dict(line.split() for line in self.run("sinfo", "-hN", "-o", "%N %t", may_fail=True).splitlines())

    def wait_until(self, is_so):
        """Fails at once where a daemon has ended."""

        def look():
            ended = [one.args for one in self.daemons if one.poll() is not None]
            assert not ended, f"{ended} ended\n{self.said()}"
            return is_so()

        try:
            harness.wait_until(look)
        except AssertionError as error:
            raise AssertionError(f"{error}: {self.states()}\n{self.said()}") from error

    def said(self):
        """The end of what each daemon has said."""
        text = ""
        for name in sorted(name for name in os.listdir(self.folder) if name.endswith(".txt")):
            with open(f"{self.folder}/{name}", encoding="utf-8", errors="replace") as file:
                text += f"--- {name}\n{''.join(file.readlines()[-15:])}"
        return text

    def end(self):
        """Ends what was started, also what jobs have left, and removes the folder."""
        atexit.unregister(self.end)
        for daemon in self.daemons:
            daemon.kill()
            daemon.wait()
        try:
            while True:
                for pid in harness.children_of(os.getpid()):
                    harness.kill(pid)
                os.waitpid(-1, 0)  # of these; what it leaves becomes a child of this process
        except ChildProcessError:
            shutil.rmtree(self.folder)


class Case(Leaving):
    NODES = 8
    CONFIGURATION = ""

    @classmethod
    def setUpClass(cls):
        cls.cluster = Slurm(cls.NODES, cls.CONFIGURATION)
        cls.addClassCleanup(cls.cluster.end)
        # What documents and examples call xferbench: fleet is the program's own, the rest measures.
        write_program(
            f"{cls.cluster.folder}/bin/xferbench",
            f'#!/bin/sh\n[ "$1" = fleet ] && exec {harness.XFERBENCH} "$@"\nexec {NODE_PROGRAM} "$@"\n',
        )

    def shell(self, command, code=0, **environment):
        """A line that a person types, in the test's folder."""
        outcome = self.run_program(
            "-c", command, program="sh", environment=self.cluster.environment | environment
        )
        self.assertEqual(outcome.code, code, f"{command}\n{outcome}")
        return outcome


def main(programs):
    """harness.main(), or ctest's code for a test that is skipped, and why."""
    why = [f"there is no {program} here" for program in programs if shutil.which(program, path=PATH) is None]
    if len(socket.gethostname().split(".")[0]) > LONGEST_HOST_NAME[programs]:
        why.append(f"this machine's name is too long for {programs[-1]}")
    try:
        pwd.getpwuid(os.geteuid())
    except KeyError:
        why.append("this user has no name")
    if why:
        print(f"Skipped: {why[0]}")
        sys.exit(77)
    harness.main()

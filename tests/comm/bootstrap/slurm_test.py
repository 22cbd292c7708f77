#!/usr/bin/env python3
"""Slurm, if it is installed. usage: slurm_test.py PROBE

Every function with a docstring is a case. Prints TAP.
"""
import getpass
import os
import socket
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

from launching import Job, Skipped, cases_of, expect, main, run, until

PROBE = os.path.abspath(sys.argv[1])

# A Slurm of one node, run by the user of this test: no munge, no root, no cgroups. TEST_SLURM_ROOT names the folder of packages
# that were unpacked instead of installed.
SLURM_CONF = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/linear
ReturnToService=2
MessageTimeout=100
SlurmdTimeout=0
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool
TmpFS={place}/scratch
SlurmctldPidFile={place}/slurmctld.pid
SlurmdPidFile={place}/slurmd.pid
SlurmctldLogFile={place}/slurmctld.log
SlurmdLogFile={place}/slurmd.log
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus}
PartitionName=all Nodes={host} Default=YES MaxTime=10 State=UP
"""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(('127.0.0.1', 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def slurm_program(name):
    root = os.environ.get('TEST_SLURM_ROOT', '')
    for directory in ('usr/sbin', 'usr/bin'):
        for full in (name, name + '-wlm'):
            if os.access(f'{root}/{directory}/{full}', os.X_OK):
                return f'{root}/{directory}/{full}'
    raise Skipped(f'no {name}')


def is_step(pid):
    try:
        return 'slurmstepd' in Path(f'/proc/{pid}/cmdline').read_text(errors='replace')
    except OSError:
        return False  # it has just ended


# The command that starts ranks in a Slurm of the test, and its environment.
@contextmanager
def slurm():
    programs = {name: slurm_program(name) for name in ('slurmctld', 'slurmd', 'slurmstepd', 'srun', 'sinfo')}
    with tempfile.TemporaryDirectory() as place:
        for directory in ('state', 'spool', 'scratch'):
            os.mkdir(f'{place}/{directory}')
        text = SLURM_CONF.format(host=socket.gethostname().split('.')[0], ports=free_ports(2), place=place,
                                 user=getpass.getuser(), cpus=os.cpu_count())
        more = {'SLURM_CONF': f'{place}/slurm.conf'}
        if root := os.environ.get('TEST_SLURM_ROOT'):
            plugins = next(Path(root).glob('usr/lib/*/slurm-wlm'))
            text += f'PluginDir={plugins}\n'
            more['LD_LIBRARY_PATH'] = f'{plugins}:{plugins.parent}'
        Path(more['SLURM_CONF']).write_text(text)
        quiet = {'env': more, 'stdout': subprocess.DEVNULL, 'stderr': subprocess.DEVNULL}
        daemons = []
        try:
            daemons.append(Job([programs['slurmctld'], '-D', '-i'], **quiet))
            daemons.append(Job([programs['slurmd'], '-D', '-d', programs['slurmstepd']], **quiet))
            state = [programs['sinfo'], '-h', '-o', '%T']

            def logs():
                return ''.join(path.read_text()[-1500:] for path in Path(place).glob('*.log'))

            def idle():
                if any(each.process.poll() is not None for each in daemons):
                    raise Skipped('Slurm does not start: ' + ' | '.join(logs().splitlines()[-2:]))
                return subprocess.run(state, env={**os.environ, **more}, capture_output=True,
                                      text=True).stdout.strip() == 'idle'

            until(idle, 'an idle node')
            yield [programs['srun'], '--overcommit'], more
        finally:
            # srun returns before the steps of its job have reported their end, which they do to both daemons.
            until(lambda: not any(map(is_step, (p for each in daemons for p in each.left()))), 'the end of all steps')
            for each in reversed(daemons):
                each.process.terminate()
                each.process.wait()
                until(lambda: not each.left(), 'the end of what Slurm started')


def slurm_finds_all(mpi, name):
    with slurm() as (start, more):
        for n in (1, 2, 5):
            status, out, err = run([*start, f'--mpi={mpi}', '-n', n, PROBE], env=more, at_once=False)
            expect(status == 0, f'{n} ranks: {status} {err}')
            expect(sorted(out.split()) == sorted(' '.join(f'rank {r} of {n} by {name}: ok' for r in range(n)).split()),
                   out)
        status, out, err = run([*start, f'--mpi={mpi}', '-n', 3, PROBE, 'abort', 7], env=more, at_once=False)
        expect(status != 0 and out == '', f'{status} {out} {err}')


def slurm_with_pmi2():
    """1, 2 and 5 ranks, and an abort."""
    slurm_finds_all('pmi2', 'PMI-1')


def slurm_with_pmix():
    """1, 2 and 5 ranks, and an abort."""
    slurm_finds_all('pmix', 'PMIx')


if __name__ == '__main__':
    sys.exit(main(cases_of('__main__')))

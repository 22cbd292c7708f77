#!/usr/bin/env python3
"""Launchers of other projects, if they are installed. usage: launchers_test.py FULT_RUN PROBE

Every function with a docstring is a case. Prints TAP.
"""
import getpass
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

from launching import Job, Skipped, cases_of, expect, main, run, until

PROBE = os.path.abspath(sys.argv[2])


def command(*names):
    for name in names:
        if shutil.which(name):
            return name
    raise Skipped(f'no {names[0]}')


def open_mpi():
    name = command('mpirun.openmpi', 'mpirun')
    version = subprocess.run([name, '--version'], capture_output=True, text=True).stdout
    if not any(word in version for word in ('Open MPI', 'OpenRTE', 'prte')):
        raise Skipped('mpirun is not that of Open MPI')
    return [name, '--oversubscribe'] + (['--allow-run-as-root'] if os.getuid() == 0 else [])


def mpich():
    return [command('mpiexec.hydra', 'mpiexec.mpich')]


def finds_all(start, name):
    for n in (1, 2, 5):
        status, out, err = run([*start, '-n', n, PROBE], at_once=False)
        expect(status == 0, f'{n} ranks: {status} {err}')
        expect(sorted(out.split('\n')) == sorted(['', *(f'rank {r} of {n} by {name}: ok' for r in range(n))]), out)


def aborts(start, statuses=None, reports=False):
    status, out, err = run([*start, '-n', 3, PROBE, 'abort', 7], at_once=False)
    # The reason of the abort is not checked: a launcher may end before it has forwarded all output. Hydra may also be killed
    # by SIGPIPE (141), and adds a report of its own.
    expect(status in statuses if statuses else status != 0, f'{status} {out} {err}')
    expect(': ok' not in out if reports else out == '', f'{status} {out} {err}')


def gives_up(start, message):
    status, out, err = run([*start, '-n', 3, PROBE, 'late', 300], at_once=False)
    expect(status != 0 and message in err, f'{status} {out} {err}')


def open_mpi_finds_all():
    """1, 2 and 5 ranks."""
    finds_all(open_mpi(), 'PMIx')


def open_mpi_aborts():
    """Exits with the requested status, or with that of a rank that was interrupted."""
    aborts(open_mpi(), (7, 9))


def open_mpi_does_not_wait_forever():
    """A rank that never comes."""
    gives_up(open_mpi(), 'not every rank has come to a PMIx fence within 300 ms')


def mpich_finds_all():
    """1, 2 and 5 ranks."""
    finds_all(mpich(), 'PMI-1')


def mpich_aborts():
    """One rank ends the others."""
    aborts(mpich(), reports=True)


def mpich_does_not_wait_forever():
    """A rank that never comes."""
    gives_up(mpich(), 'no answer to cmd=barrier_in for 300 ms')


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
            yield [programs['srun'], '--overcommit', '--immediate=30'], more
        finally:
            for each in daemons:
                each.process.terminate()
            for each in daemons:
                try:
                    each.process.wait(30)
                except subprocess.TimeoutExpired: # on a busy machine slurmd may wait for longer
                    each.process.kill()
                    each.process.wait(30)
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

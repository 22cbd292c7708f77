#!/usr/bin/env python3
"""Launchers of other projects, if they are installed. usage: launchers_test.py FULT_RUN PROBE

Every function with a docstring is a case. Prints TAP.
"""
import os
import shutil
import subprocess
import sys

from launching import Skipped, cases_of, expect, main, run

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


if __name__ == '__main__':
    sys.exit(main(cases_of('__main__')))

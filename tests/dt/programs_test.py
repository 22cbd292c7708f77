#!/usr/bin/env python3
"""DT from outside: NAS's checksums with any number of ranks.

usage: programs_test.py --serial PROGRAM --fult FULT_RUN PROGRAM [--mpi MPIEXEC PROGRAM]
"""
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'support'))
from program_checks import expect, expect_progress, expect_refused, run, run_checks_of_versions, words_of_result  # noqa: E402

NODES = {('S', 'BH'): 5, ('S', 'WH'): 5, ('S', 'SH'): 12, ('W', 'BH'): 11, ('W', 'WH'): 11, ('W', 'SH'): 32}
FIELDS = ['Class', 'Size', 'Iterations', 'Time in seconds', 'Total processes', 'Mop/s total', 'Mop/s/process', 'Operation type',
          'Execution', 'Nodes', 'Arcs', 'L2 norm', 'Compared with', 'Verification']


def verified(form, ranks, *command):
    done = run(*command)
    expect(done.returncode == 0, f'{command}: status {done.returncode}\n{done.stdout}\n{done.stderr}')
    title, *lines, result = done.stdout.splitlines()
    expect(title == f'DT_{form[1]}.{form[0]} Benchmark Completed', title)
    found = {name.strip(): value.strip() for name, value in (line.split('=', 1) for line in lines)}
    expect(list(found) == FIELDS, f'the report has {list(found)}')
    expect(found['Verification'] == 'SUCCESSFUL' and found['Total processes'] == str(ranks), done.stdout)
    expect(found['Nodes'] == str(NODES[form]), done.stdout)
    words = words_of_result(result)
    expect((words['class'], words['graph']) == form and words['ranks'] == str(ranks), result)
    expect(words['verified'] == 'yes' and words['checksum'] == found['L2 norm'], result)


def one_thread(line):
    for form in NODES:
        verified(form, 1, line.serial, *form)


def any_ranks(line):
    launcher, program = line.fult
    for ranks, form in zip((1, 2, 3, 4, 2, 3), NODES):
        verified(form, ranks, launcher, '-n', ranks, program, *form)


def one_worker(line):
    verified(('W', 'SH'), 1, line.fult[1], '--workers=1', 'W', 'SH')  # 32 nodes that wait for each other in one thread


def a_process_each(line):
    if line.mpi:
        launcher, program = line.mpi
        verified(('S', 'BH'), 5, launcher, '-n', 5, program, 'S', 'BH')
        verified(('S', 'WH'), 6, launcher, '-n', 6, program, 'S', 'WH')  # one has nothing to do
        verified(('S', 'SH'), 12, launcher, '-n', 12, program, 'S', 'SH')


def too_few_processes(line):
    if line.mpi:
        launcher, program = line.mpi
        done = run(launcher, '-n', 2, program, 'W', 'BH')
        expect(done.returncode != 0 and not done.stdout, done)
        message = 'dt-mpi: BH of class W needs a process for each of its 11 nodes, but there are 2; start 11'
        expect(done.stderr.count(message) == 1, done.stderr)


def progress(line):
    for program in (line.serial, line.fult[1]):
        expect_progress('has run 5 nodes', program, 'S', 'BH')


def errors(line):
    for program in [line.serial, line.fult[1]] + line.mpi[1:]:
        expect_refused(2, "class: must be S, W, A or B, not 'X'", program, 'X', 'BH')


if __name__ == '__main__':
    sys.exit(run_checks_of_versions([one_thread, any_ranks, one_worker, a_process_each, too_few_processes, progress, errors]))

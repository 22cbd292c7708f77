#!/usr/bin/env python3
"""Tests of the program fult-run. usage: fult_run_test.py FULT_RUN PROBE [--part=K/N]

Every function with a docstring is a case. Prints TAP.
"""
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'comm', 'bootstrap'))
from launching import Job, Skipped, cases_of, expect, main, run, until  # noqa: E402

FULT_RUN, PROBE = sys.argv[1:3]
FULT_RUN, PROBE = os.path.abspath(FULT_RUN), os.path.abspath(PROBE)
LONG = 'sleep 1000000'  # time: given, never reached
SLEEP = f'exec {LONG}'
POLL = 'sleep 0.01'  # time: between polls


def ranks(n, *more, **environment):
    return run([FULT_RUN, '-n', n, *more], env=environment)


def shell(n, script, *options):
    return ranks(n, *options, 'sh', '-c', script)


def scratch():
    return tempfile.TemporaryDirectory()


def one_rank_without_a_launcher():
    """The probe by itself."""
    status, out, err = run([PROBE])
    expect((status, out) == (0, 'rank 0 of 1 by one rank: ok\n'), f'{status} {out} {err}')


def exchanges_and_barriers():
    """1, 2, 5 and 40 ranks find each other."""
    for n in (1, 2, 5, 40):
        status, out, err = ranks(n, PROBE)
        lines = sorted(out.splitlines())
        expect(status == 0 and err == '', f'{n}: {status} {err}')
        expect(lines == sorted(f'rank {r} of {n} by fult-run: ok' for r in range(n)), f'{n}: {lines}')


def many_barriers():
    """3 ranks, 500 barriers."""
    status, _, err = ranks(3, PROBE, 'barrier', 500)
    expect(status == 0, err)


def several_programs_of_one_rank():
    """One after the other, each finds the others again."""
    status, out, err = shell(2, f'{PROBE} && {PROBE}')
    expect(status == 0 and out.count(': ok\n') == 4, f'{status} {out} {err}')


def other_launchers_outside():
    """The nearest launcher counts."""
    status, out, err = ranks(2, PROBE, PMIX_NAMESPACE='x', PMIX_RANK='0', PMI_FD='0', PMI_RANK='0', PMI_SIZE='9')
    expect(status == 0 and 'rank 1 of 2 by fult-run: ok' in out, f'{status} {out} {err}')
    status, out, err = ranks(1, FULT_RUN, '-n', 2, PROBE)
    expect(status == 0 and 'rank 1 of 2 by fult-run: ok' in out, f'{status} {out} {err}')


def statuses():
    """That of the rank that fails, also if it is not the first one."""
    for code in (0, 1, 3, 255):
        status, _, err = shell(3, f'test $FULT_RUN_RANK = 2 && exit {code}; {SLEEP}' if code else 'exit 0')
        expect(status == code, f'{status} instead of {code}')
        expect(err == (f'fult-run: rank 2 has ended with status {code}; ending the others\n' if code else ''), err)
    status, _, err = shell(1, 'exit 5')
    expect((status, err) == (5, ''), f'{status} {err}')


def signals_of_ranks():
    """128 + signal, and the others are killed."""
    for name in ('KILL', 'SEGV', 'TERM'):
        status, _, err = shell(3, f'ulimit -c 0; test $FULT_RUN_RANK = 1 && kill -{name} $$; {SLEEP}')
        number = getattr(signal, 'SIG' + name).value
        expect(status == 128 + number, f'{name}: {status}')
        expect(err.startswith(f'fult-run: rank 1 was ended by signal {number} ('), err)


def survivors_that_ignore_the_request():
    """SIGKILL follows; a stopped rank ends too."""
    status, _, err = shell(3, 'test $FULT_RUN_RANK = 1 && exit 3; test $FULT_RUN_RANK = 2 && kill -STOP $$; '
                              f'trap "" TERM; while :; do {LONG}; done')
    expect(status == 3, f'{status} {err}')


# Rank 1 fails; rank 0 writes when it is asked to end.
def cleans_up():
    with scratch() as directory:
        return shell(2, f'if test $FULT_RUN_RANK = 0; then trap "echo clean; exit 0" TERM; '
                        f'touch {directory}/up; while :; do {POLL}; done; fi; '
                        f'until test -e {directory}/up; do {POLL}; done; exit 4')


def survivors_that_clean_up():
    """What they write then is shown, unless they need too long."""
    status, out, err = cleans_up()
    expect(status == 4 and out in ('clean\n', ''), f'{status} {out} {err}')


def keep_going():
    """Survivors detect the death and have the data of the dead rank. They continue; the exit status is that of the dead rank."""
    with scratch() as directory:
        script = (f'if test $FULT_RUN_RANK = 1; then {LONG} & echo $$ $! > {directory}/new; '
                  f'mv {directory}/new {directory}/pids; kill -9 $$; fi; '
                  f'until test -e {directory}/pids; do {POLL}; done; for pid in $(cat {directory}/pids); do '
                  f'while kill -0 $pid 2>/dev/null; do {POLL}; done; done; echo still here')
        status, out, err = shell(3, script, '--keep-going')
    expect((status, out) == (137, 'still here\nstill here\n'), f'{status} {out} {err}')
    expect('the others go on' in err, err)


def a_dead_peer_ends_a_barrier():
    """The ranks that wait for it get its rank and how it ended."""
    for end, how in (('kill -9 $$', 'was ended by signal 9'), ('exit 0', 'has ended with status 0')):
        status, _, err = shell(3, f'test $FULT_RUN_RANK = 1 && {end}; {PROBE} barrier 1', '-k')
        expect(err.count(f'fult: rank 1 {how}') == 2, f'{status} {err}')
        expect(status == (137 if 'kill' in end else 9), f'{status} {err}')


def a_late_peer():
    """The wait ends, and names the missing rank; on a busy machine another one may be late as well, or fult-run."""
    status, _, err = ranks(3, PROBE, 'late', 50)
    named = re.search(r'fult: ranks? ([01], )?2 did not come to a barrier within 50 ms', err)
    expect(status == 9 and (named or 'fult-run has not answered' in err), f'{status} {err}')


def calls_that_differ():
    """A barrier here and an exchange there."""
    status, _, err = ranks(2, '-k', PROBE, 'mismatch')
    expect(status == 9 and err.count('do not call the same') == 2, f'{status} {err}')


def abort():
    """Ends all with the requested status, and never with success."""
    for options in ([], ['--keep-going']):
        for code, expected in ((7, 7), (0, 1), (256, 1)):
            status, _, err = ranks(3, *options, PROBE, 'abort', code)
            expect(status == expected, f'{code}: {status} {err}')
            expect(err == 'fult-run: rank 2 ends all ranks: this is a test\n', err)


def bytes_that_are_no_message():
    """A rank that writes invalid data to its connection harms only itself."""
    status, _, err = shell(2, f'if test $FULT_RUN_RANK = 1; then echo "this is not a message" >&$FULT_RUN_FD; '
                              f'else {PROBE} barrier 1; fi', '-k')
    expect(status == 9, f'{status} {err}')
    expect('fult-run: rank 1 sent bytes that are no message' in err and 'of the same version?' in err, err)
    expect('fult: rank 1 sent bytes that are no message' in err, err)


def prefixes():
    """Before each line, of both streams, also of an unfinished one."""
    status, out, err = shell(3, 'echo out $FULT_RUN_RANK; echo err $FULT_RUN_RANK >&2; printf unfinished', '-p')
    expect(status == 0, err)
    expect(sorted(out.splitlines()) == sorted(f'[{r}] {t}' for r in range(3) for t in (f'out {r}', 'unfinished')), out)
    expect(sorted(err.splitlines()) == sorted(f'[{r}] err {r}' for r in range(3)), err)


def whole_lines():
    """Many lines of two ranks, none torn, none lost, each rank's in order."""
    status, out, err = shell(2, 'seq -f "$FULT_RUN_RANK %.0f and some text to make it longer" 1 30000')
    expect(status == 0, err)
    following = {'0': 1, '1': 1}
    for line in out.splitlines():
        rank, number, rest = line.split(' ', 2)
        expect(rest == 'and some text to make it longer' and int(number) == following[rank], line)
        following[rank] += 1
    expect(following == {'0': 30001, '1': 30001}, str(following))


def one_rank_writes_through():
    """With one rank the output is the program's, byte by byte."""
    status, out, _ = shell(1, 'printf "a\\nb"')
    expect((status, out) == (0, 'a\nb'), f'{status} {out!r}')


def output_is_not_read():
    """Ranks find each other although the output of one is stuck."""
    with scratch() as directory:
        job = Job([FULT_RUN, '-n', 2, 'sh', '-c',
                   f'test $FULT_RUN_RANK = 1 && seq 1 1000000 & {PROBE} barrier 3 && touch {directory}/$FULT_RUN_RANK; '
                   'wait'])
        until(lambda: len(os.listdir(directory)) == 2, 'a barrier')
        status, out, err = job.finish()
        expect(status == 0, err)
        expect(out == ''.join(f'{n}\n' for n in range(1, 1000001)), 'the output is not whole')


def the_reader_goes_away():
    """As with head: all end."""
    job = Job([FULT_RUN, '-n', 2, 'yes'])
    expect(job.process.stdout.readline() == 'y\n', 'no line')
    job.process.stdout.close()
    status = job.process.wait()
    expect((status, job.left()) == (141, []), f'{status} {job.left()}')
    job.process.stderr.close()


def standard_input():
    """Standard input of rank 0, of another rank, of none; no more is consumed than is read."""
    script = 'echo $FULT_RUN_RANK: $(cat)'
    for options, expected in (([], ['0: text', '1:']), (['-i', '1'], ['0:', '1: text']),
                              (['--stdin=none'], ['0:', '1:'])):
        status, out, err = run([FULT_RUN, '-n', 2, *options, 'sh', '-c', script], 'text\n')
        expect(status == 0 and sorted(out.splitlines()) == expected, f'{options}: {out} {err}')
    with tempfile.TemporaryFile('w+') as file:
        file.write('first\nsecond\n')
        file.seek(0)
        status, out, _ = run(['sh', '-c', f'{FULT_RUN} -n 2 true; cat'], stdin=file)
        expect(out == 'first\nsecond\n', out)


# Starts the program on a terminal of its own. Returns its process id and the terminal.
def on_terminal(command):
    try:
        pid, terminal = pty.fork()
    except OSError as error:
        raise Skipped(f'no terminal can be made: {error}') from None
    if pid == 0:
        os.execv(command[0], command)
    return pid, terminal


def read_until(terminal, text):
    seen = b''
    while text not in seen:
        more = os.read(terminal, 4096)
        expect(more, f'{text} does not come, but {seen}')
        seen += more


def a_terminal():
    """Lines and the end of input reach rank 0, Ctrl-C ends all."""
    pid, terminal = on_terminal([FULT_RUN, '-n', '2', 'sh', '-c',
                                 'test $FULT_RUN_RANK = 1 || while read line; do echo got $line; done; echo end'])
    os.write(terminal, b'hello\n')
    read_until(terminal, b'got hello')
    os.write(terminal, b'again\n\x04')
    read_until(terminal, b'got again')
    _, status = os.waitpid(pid, 0)
    expect(os.waitstatus_to_exitcode(status) == 0, f'{status}')
    os.close(terminal)

    pid, terminal = on_terminal([FULT_RUN, '-n', '2', 'sh', '-c', f'echo ready; {SLEEP}'])
    read_until(terminal, b'ready\r\nready')
    os.write(terminal, b'\x03')
    _, status = os.waitpid(pid, 0)
    expect(os.waitstatus_to_exitcode(status) == -signal.SIGINT, f'{status}')
    os.close(terminal)


# Waits until each rank has said so.
def started(job, n):
    for _ in range(n):
        expect(job.process.stdout.readline() == 'ready\n', 'not ready')


def signals_to_fult_run():
    """fult-run ends by that signal, and no process is left, including those that ranks have started."""
    script = f'{LONG} & setsid {LONG} & echo ready; wait'
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        # Not ignored, as it is below nohup.
        job = Job([FULT_RUN, '-n', 3, 'sh', '-c', script], preexec_fn=lambda n=number: signal.signal(n, signal.SIG_DFL))
        started(job, 3)
        job.process.send_signal(number)
        status, _, _ = job.finish()
        expect(status == -number, f'{number}: {status}')
        expect(not job.left(), f'{number}: left behind: {job.left()}')


def a_second_signal():
    """Those that ignore the first one are killed."""
    job = Job([FULT_RUN, '-n', 2, 'sh', '-c', f'trap "echo asked" INT; echo ready; while :; do {LONG}; done'])
    started(job, 2)
    job.process.send_signal(signal.SIGINT)
    job.process.send_signal(signal.SIGTERM)
    status, _, _ = job.finish()
    expect(status == -signal.SIGINT, f'{status}')
    expect(not job.left(), f'left behind: {job.left()}')


def an_ignored_signal_stays_ignored():
    """As under nohup."""
    job = Job([FULT_RUN, '-n', 2, 'sh', '-c', 'echo ready; test $FULT_RUN_RANK = 1 || { read line; echo $line; }'],
              stdin=subprocess.PIPE,
              preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    started(job, 2)
    job.process.send_signal(signal.SIGHUP)
    status, out, err = job.finish('text\n')
    expect((status, out) == (0, 'text\n'), f'{status} {out} {err}')


def fult_run_is_killed():
    """After a SIGKILL of fult-run the ranks, the processes that they started, and the files of the job are gone."""
    job = Job([FULT_RUN, '-n', 3, 'sh', '-c',
               f'{LONG} & echo $FULT_RUN_JOB > /dev/shm/fult-$FULT_RUN_JOB.$FULT_RUN_RANK; echo ready; wait'])
    started(job, 3)
    until(lambda: len(job.left()) == 7, 'three ranks, three of theirs, and the guardian')
    files = {f for f in os.listdir('/dev/shm') if f.startswith(f'fult-{job.process.pid}-')}
    expect(len(files) == 3, f'{files}')
    job.process.kill()
    job.process.wait()
    until(lambda: not job.left(), 'the end of all ranks')
    expect(not files & set(os.listdir('/dev/shm')), 'files are left')
    job.process.stdout.close()
    job.process.stderr.close()


def left_behind_by_a_rank():
    """In the background, in a session of its own, and a daemon."""
    status, _, err = shell(2, f'{LONG} & setsid {LONG} & (setsid sh -c "{LONG} & exec {LONG}" &)')
    expect(status == 0, err)


def shared_memory_files():
    """Those of the job are removed, others are not."""
    other = Path('/dev/shm') / f'fult-{os.getpid()}-other'
    other.touch()
    try:
        status, out, err = shell(2, 'touch /dev/shm/fult-$FULT_RUN_JOB /dev/shm/fult-$FULT_RUN_JOB.$FULT_RUN_RANK; '
                                    'echo $FULT_RUN_JOB')
        job = out.split()[0]
        expect(status == 0 and out == f'{job}\n{job}\n', f'{out} {err}')
        expect(re.fullmatch(r'[0-9]+-[0-9a-f]{8}', job), job)
        expect(not [f for f in os.listdir('/dev/shm') if job in f], 'files of the job are left')
        expect(other.exists(), 'a file of another process is gone')
    finally:
        other.unlink()


def user_signals():
    """Are passed on, and end nothing."""
    job = Job([FULT_RUN, '-n', 2, 'sh', '-c',
               f'trap "echo ready; exit 0" USR1; echo ready; while :; do {POLL}; done'])
    started(job, 2)
    job.process.send_signal(signal.SIGUSR1)
    started(job, 2)
    expect(job.finish()[0] == 0, 'a bad status')


def binding():
    """The processors are divided among the ranks; without binding each rank may use all of them."""
    allowed = os.sched_getaffinity(0)
    program = [sys.executable, '-c', 'import os; print(*sorted(os.sched_getaffinity(0)))']

    def masks(n, *options):
        status, out, err = ranks(n, *options, *program)
        expect(status == 0 and len(out.splitlines()) == n, err)
        return [set(map(int, line.split())) for line in out.splitlines()]

    expect(masks(1) == [allowed], 'one rank has all')
    expect(masks(len(allowed) + 1) == [allowed] * (len(allowed) + 1), 'too many ranks share all')
    settings = ['sh', '-c', 'echo $FULT_WORKERS-$FULT_BIND']
    for given, expected in (([], '1-off'), (['FULT_WORKERS=3', 'FULT_BIND=on'], '3-on')):
        _, out, _ = run(['env', '-u', 'FULT_WORKERS', '-u', 'FULT_BIND', *given,
                         FULT_RUN, '-n', len(allowed) + 1, *settings])
        expect(set(out.split()) == {expected}, f'ranks that share processors: {out}')
    expect(masks(len(allowed), '--no-bind') == [allowed] * len(allowed), 'not bound')
    for given in [], ['FULT_BIND=on']:
        _, out, _ = run(['env', '-u', 'FULT_BIND', *given, FULT_RUN, '-n', 2, '--no-bind', 'sh', '-c', 'echo $FULT_BIND'])
        expect(out.split() == ['off'] * 2, f'the ranks bind their workers: {out}')
    if len(allowed) < 2:
        raise Skipped('one processor')
    for n in {2, len(allowed)}:
        found = masks(n)
        expect(set.union(*found) == allowed and sum(map(len, found)) == len(allowed), f'{found}')


def limits_and_signals_are_the_callers():
    """Ranks see the limits and signals of fult-run's caller, and no descriptors but their own."""
    script = 'ulimit -n; grep -E "Sig(Blk|Ign)" /proc/self/status; ls /proc/self/fd | wc -l'
    expected = run(['sh', '-c', script])[1].split('\n')
    status, out, err = shell(1, script)
    found = out.split('\n')
    expect(status == 0 and found[:3] == expected[:3], f'{found} instead of {expected} {err}')
    expect(int(found[3]) == int(expected[3]) + 1, f'{found[3]} descriptors instead of {expected[3]} and one')


def mistakes_on_the_command_line():
    """Each with its own message, and status 2."""
    for words, message in (
            ([], 'how many ranks? Say -n N'),
            (['true'], 'how many ranks? Say -n N'),
            (['-n'], '--ranks: 1 required N missing'),
            (['-n', 'x', 'true'], "--ranks: must be a whole number from 1 to 1024, not 'x'"),
            (['-n', '2x', 'true'], "--ranks: must be a whole number from 1 to 1024, not '2x'"),
            (['-n', '', 'true'], "--ranks: must be a whole number from 1 to 1024, not ''"),
            (['-n', '0', 'true'], "--ranks: must be a whole number from 1 to 1024, not '0'"),
            (['-n', '-1', 'true'], "--ranks: must be a whole number from 1 to 1024, not '-1'"),
            (['--ranks=1025', 'true'], "--ranks: must be a whole number from 1 to 1024, not '1025'"),
            (['-n', '99999999999999', 'true'], "--ranks: must be a whole number from 1 to 1024, not '99999999999999'"),
            (['-n', '2'], 'which program? Give it after the options'),
            (['-n', '2', '--what', 'true'], 'The following argument was not expected: --what'),
            (['-n', '2', '--prefix=1', 'true'], 'prefix was given a disallowed flag override'),
            (['-n', '2', '-i', '1024', 'true'], "--stdin: must be a rank or none, not '1024'"),
            (['-n', '2', '-i', '2', 'true'], '--stdin 2: the last rank is 1')):
        status, out, err = run([FULT_RUN, *words])
        expect((status, out, err) == (2, '', f'fult-run: {message}; --help lists the options\n'),
               f'{words}: {status} {out} {err}')


def other_ways_to_say_it():
    """-n2, --ranks=2, -np 2, and options of the program that look like those of fult-run."""
    for words in (['-n2'], ['--ranks=2'], ['--ranks', '2'], ['-np', '2'], ['-n', '2', '--']):
        status, out, err = run([FULT_RUN, *words, 'echo', '-n', '-p', '--help'])
        expect(status == 0 and out.split('\n')[:2] == ['-p --help', '-p --help'], f'{words}: {out!r} {err}')


def programs_that_cannot_run():
    """As a shell's status, reported once, and nothing remains."""
    status, _, err = ranks(3, 'no-such-program')
    expect(status == 127 and err.count('\n') == 1 and "cannot run 'no-such-program': No such file" in err, err)
    status, _, err = ranks(3, '/no/such/program')
    expect(status == 127 and 'PATH' not in err, err)
    status, _, err = ranks(3, '/')
    expect(status == 126 and 'Permission denied' in err, err)


def help_and_version():
    """On the standard output; the help names every option."""
    status, out, _ = run([FULT_RUN, '--help'])
    expect(status == 0 and '\nusage: fult-run -n N' in out, out)
    for option in ('--ranks', '--prefix', '--stdin', '--keep-going', '--no-bind', '--help', '--version'):
        expect(option in out, option)
    expect(all(len(line) <= 100 for line in out.splitlines()), 'a long line')
    status, out, _ = run([FULT_RUN, '-V'])
    expect(status == 0 and re.fullmatch(r'fult-run \d+\.\d+\.\d+\n', out), out)


def a_stale_environment():
    """A program that a rank starts itself gets an error, instead of writing to a file."""
    for environment, message in (
            ({'FULT_RUN_FD': '77', 'FULT_RUN_RANK': '0', 'FULT_RUN_SIZE': '1'}, 'FULT_RUN_FD=77 is no connection'),
            ({'FULT_RUN_FD': '0', 'FULT_RUN_RANK': '0', 'FULT_RUN_SIZE': '1'}, 'FULT_RUN_FD=0 is no connection'),
            ({'FULT_RUN_FD': '0', 'FULT_RUN_RANK': '0'}, 'has not set FULT_RUN_SIZE'),
            ({'FULT_RUN_FD': '0', 'FULT_RUN_RANK': '3', 'FULT_RUN_SIZE': '3'}, "FULT_RUN_RANK='3' must be a number"),
            ({'PMIX_NAMESPACE': 'x'}, 'PMIX_NAMESPACE')):
        status, _, err = run([PROBE], env=environment)
        expect(status == 9 and message in err, f'{environment}: {status} {err}')


if __name__ == '__main__':
    sys.exit(main(cases_of('__main__')))

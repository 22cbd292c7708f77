"""Checks of programs from outside."""
import argparse
import os
import pty
import subprocess


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def run(*command, **more):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)


def shown_on_terminal(*command):
    """What a program that succeeds writes to standard error where that is a terminal."""
    screen, end = pty.openpty()
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=end) as process:
        os.close(end)
        shown = b''
        try:
            while part := os.read(screen, 4096):
                shown += part
        except OSError:  # the end of a terminal
            pass
    os.close(screen)
    expect(process.returncode == 0, f'{command}: status {process.returncode}\n{shown}')
    return shown.decode()


def expect_progress(text, *command):
    """A program shows the text on a terminal, erases it at the end, and shows nothing elsewhere."""
    shown = shown_on_terminal(*command)
    expect(text in shown and shown.endswith('\r\033[K'), f'{command} shows {shown!r}')
    expect(not run(*command).stderr, f'{command} shows its progress without a terminal')


def expect_refused(status, message, *command):
    done = run(*command)
    expect(done.returncode == status and not done.stdout and message in done.stderr, f'{command}: {done}')


def words_of_result(line):
    """{name: value} of the line for scripts, "result: NAME=VALUE ..."."""
    title, *words = line.split(' ')
    expect(title == 'result:', f'not a result: {line}')
    return dict(word.split('=', 1) for word in words)


def run_checks(checks, *arguments):
    """Calls each check, and reports them as TAP. Returns the exit status."""
    print(f'1..{len(checks)}')
    failed = 0
    for number, check in enumerate(checks, 1):
        try:
            check(*arguments)
            print(f'ok {number} {check.__name__}', flush=True)
        except Exception as error:
            failed += 1
            print(f'not ok {number} {check.__name__}')
            print('\n'.join('# ' + line for line in f'{type(error).__name__}: {error}'.splitlines()), flush=True)
    return 1 if failed else 0


def run_checks_of_versions(checks):
    """run_checks, each with the programs that the command line names: `serial`, `fult` and `mpi`. The last two are words: a
    launcher and the program; `mpi` has none if there is no MPI."""
    parser = argparse.ArgumentParser()
    parser.add_argument('--serial', required=True)
    parser.add_argument('--fult', nargs=2, required=True)
    parser.add_argument('--mpi', nargs=2, default=[])
    parser.add_argument('--sanitized', action='store_true', help='where memory is exhausted, the sanitizer ends the program')
    return run_checks(checks, parser.parse_args())

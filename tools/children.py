"""Programs that ./demo and ./check start, and that never outlive them."""
import atexit
import contextlib
import os
import signal
import subprocess
import threading

INTERRUPTS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
PATIENCE = 10  # seconds between asking a program to end and killing it

running = set()
lock = threading.Lock()  # guards `running` and `over`
over = False  # this program ends: nothing is started any more


def allow_interrupts():
    signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTS)


def end(process):
    """Ends a process and its group. fult-run and ninja end what they started when they are asked to."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=PATIENCE)
            return


@atexit.register
def end_all():
    """Ends what other threads have started: they do not see the exception that ends the main one."""
    global over
    with lock:
        over = True
        left = list(running)
    for process in left:
        end(process)


@contextlib.contextmanager
def started(command, **options):
    """A program in a group of its own, which is gone after the block, also when an interrupt ends that."""
    # An interrupt inside Popen would lose the program just started.
    signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)
    try:
        with lock:
            if over:
                raise RuntimeError(f'{command[0]} is not started: this program ends')
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=allow_interrupts,
                                       **options)
            running.add(process)
    except BaseException:
        allow_interrupts()
        raise
    try:
        allow_interrupts()
        yield process
    finally:
        if process.poll() is None:
            end(process)
        with lock:
            running.discard(process)

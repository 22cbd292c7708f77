#!/usr/bin/env python3
"""The conformance program between processes.

usage: conformance_test.py FULT_RUN PROGRAM STRANGER [slow] [--part=K/N] [--long]

Every function with a docstring is a case. Prints TAP. Cases whose provider is missing are skipped.
"""
import os
import random
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'bootstrap'))
from launching import NETWORK, Job, Skipped, cases_of, expect, main, run, take_option, until  # noqa: E402

LONG = take_option('long')  # all cases where others are enough to show that a way works
FULT_RUN, PROGRAM, STRANGER = (os.path.abspath(a) for a in sys.argv[1:4])
SLOW = sys.argv[4:] == ['slow']
# If ranks share processors, each message over the network costs a process switch or two.
SOME = ['sizes_unexpected', 'pieces', 'truncation', 'wait_for_any', 'one_tag', 'late_endpoint', 'queued', 'wildcards',
        'put_with_signal', 'refused_accesses', 'region_ends_in_use', 'listed', 'some_ranks', 'many_subsets_at_once',
        'synchronous', 'taken_by_probe', 'sparse']
# With sanitizers each case takes several times as long: most ways to run them get few. comm_loopback runs all of them in many ways.
FEW = ['sizes_unexpected', 'pieces', 'one_tag', 'wildcards', 'put_with_signal', 'region_ends_in_use', 'many_subsets_at_once']
SOME = FEW if SLOW else SOME
MANY = [] if LONG else SOME
NAMES = run([PROGRAM, 'list'])[1].split()


def conforms(ranks, *cases, **environment):
    environment.setdefault('FULT_WORKERS', '1')
    status, out, err = run([FULT_RUN, '-n', ranks, PROGRAM, *cases], env=environment)
    if 'no provider' in err:
        raise Skipped(err.splitlines()[0])
    done = [line.split(':')[0] for line in out.splitlines() if ': ok' in line]
    wanted = list(cases) or NAMES
    expect(status == 0 and done == wanted, f'status {status}, done {done}: {err[-3000:]}')
    return out


def shared_memory_two_ranks():
    """2 ranks over shared memory."""
    conforms(2)


def shared_memory_four_ranks_two_workers():
    """4 ranks of 2 workers over shared memory, small messages not gathered."""
    conforms(4, *MANY, FULT_WORKERS='2', FULT_COMM_GATHER='off')


def shared_memory_of_the_fabric():
    """2 ranks over libfabric's own shared memory."""
    conforms(2, *MANY, FULT_COMM_SAME_HOST='shm')


def subsets_in_turn():
    """3 ranks make more endpoints, one after the other, than there are numbers for them."""
    status, out, err = run([FULT_RUN, '-n', 3, PROGRAM, 'subsets', 2100], env={'FULT_WORKERS': '1'})
    expect(status == 0 and 'subsets: ok' in out, f'status {status}: {err[-3000:]}')


def shared_memory_dedicated():
    """3 ranks over shared memory, each with a dedicated server, and eight packets."""
    conforms(3, *MANY, FULT_COMM_SERVER='dedicated', FULT_COMM_PACKETS='8')


def network_two_ranks():
    """2 ranks over the network's provider."""
    out = conforms(2, *(FEW if SLOW else []), **NETWORK)
    expect('over shm' not in out, out)


def network_four_ranks_two_workers():
    """4 ranks of 2 workers over the network's provider, small messages not gathered."""
    conforms(4, *SOME, FULT_WORKERS='2', FULT_COMM_GATHER='off', **NETWORK)


def network_dedicated():
    """2 ranks over the network's provider, each with a dedicated server."""
    conforms(2, *SOME, FULT_COMM_SERVER='dedicated', **NETWORK)


def two_devices():
    """2 ranks, on the second of two devices, over shared memory with either kind of server, and the network."""
    conforms(2, *MANY, FULT_COMM_DEVICES='2')
    conforms(2, *SOME, FULT_COMM_DEVICES='2', FULT_COMM_SERVER='dedicated')
    conforms(2, *SOME, FULT_COMM_DEVICES='2', **NETWORK)


def one_rank():
    """One rank without a launcher."""
    status, out, err = run([PROGRAM])
    expect(status == 0 and out.count(': ok') == len(NAMES), f'{status} {out} {err}')


def dies(ranks, **environment):
    status, out, err = run([FULT_RUN, '-n', ranks, '--keep-going', PROGRAM, 'killed'], env=environment)
    if 'no provider' in err:
        raise Skipped(err.splitlines()[0])
    expect('killed: ok' in out and status == 128 + 9, f'status {status}: {out} {err[-3000:]}')


def killed_over_shared_memory():
    """A rank kills itself while 1 or 3 others wait for it, over shared memory, and on the second of two devices."""
    dies(2)
    dies(4)
    dies(3, FULT_COMM_DEVICES='2')


def departs(ranks, **environment):
    conforms(ranks, 'departs', **environment)  # silence alone would take hours


def a_rank_leaves_over_shared_memory():
    """A rank's context ends while 1 or 3 others use it: they are notified at once, after they have received all its messages."""
    departs(2)
    departs(4, FULT_WORKERS='2', FULT_COMM_GATHER='off')
    departs(3, FULT_COMM_DEVICES='2', FULT_COMM_SERVER='dedicated')


def a_rank_leaves_over_the_network():
    """The same over the network's provider."""
    departs(2, **NETWORK)
    departs(4, **NETWORK)


def different_same_host():
    """Ranks of one host that disagree on FULT_COMM_SAME_HOST get an error with the option and both values."""
    script = 'if [ $FULT_RUN_RANK = 1 ]; then export FULT_COMM_SAME_HOST=none; fi; exec "$@"'
    status, out, err = run([FULT_RUN, '-n', 2, 'sh', '-c', script, 'sh', PROGRAM, 'pieces'])
    both = all(word in err for word in ('FULT_COMM_SAME_HOST=', 'none', 'auto'))  # whichever of them ends first
    expect(status != 0 and both and '/dev/shm' not in err, err)


def launcher_and_guard_are_killed():
    """Ranks that are not fult-run's children do not outlive it, even if its guard is killed before it."""
    job = Job([FULT_RUN, '-n', 2, 'sh', '-c', '"$@"; true', 'sh', PROGRAM, 'crash', 0])
    name = {}

    def started():
        for pid in job.left():
            try:
                name[pid] = open(f'/proc/{pid}/comm').read().strip()
            except OSError:
                pass
        return ([n for n in name.values() if n.startswith('comm_conf')] + [''])[0] and 'fult-run-guard' in name.values()

    until(started, 'the ranks')
    # They are more likely within their contexts by then.
    time.sleep(0.5)  # time: either order is right
    for pid in [p for p, n in name.items() if n == 'fult-run-guard']:
        os.kill(pid, 9)
    job.process.kill()
    job.finish()
    until(lambda: not job.left(), 'the end of the ranks')


def exits_without_an_end():
    """All ranks call exit(0) within their contexts: fult-run reports it, and fails."""
    status, out, err = run([FULT_RUN, '-n', 2, '--keep-going', PROGRAM, 'leave'])
    expect(status == 1 and err.count('without ending its communication') == 2, f'{status} {err}')


def crashes():
    """A rank crashes, with and without libfabric in use: it ends by the signal, and no other rank reports it."""
    if SLOW:
        raise Skipped('sanitizers take the signals')
    for number in (11, 6, 15):
        for environment in ({}, NETWORK):
            status, out, err = run([FULT_RUN, '-n', 2, PROGRAM, 'crash', number], env=environment)
            if 'no provider' in err:
                raise Skipped(err.splitlines()[0])
            expect(status == 128 + number and out == '', f'{number}: status {status} {out} {err}')
            report = [line for line in err.splitlines() if not line.startswith('fult-run: ')]
            if number != 15:  # the runtime names the task, and shows its frames
                expect(report and report[0].startswith("fult: task 'main' (worker "), err)
                expect(all(line.startswith('      #') for line in report[1:]), err)
            else:
                expect(not report, err)


# The ports on which its ranks listen: rank -> port.
def ports_of(job):
    with open('/proc/net/tcp') as table:
        sockets = {row[9]: int(row[1].split(':')[1], 16) for row in map(str.split, table) if row[3] == '0A'}
    ports = {}
    for pid in job.left():
        try:
            with open(f'/proc/{pid}/environ', 'rb') as file:
                rank = [v for v in file.read().split(b'\0') if v.startswith(b'FULT_RUN_RANK=')]
            links = [os.readlink(f'/proc/{pid}/fd/{fd}') for fd in os.listdir(f'/proc/{pid}/fd')]
        except OSError:
            continue  # it has just ended
        if not rank:
            continue  # a process of fult-run that becomes a rank
        for port in (sockets[link[8:-1]] for link in links if link[8:-1] in sockets):
            ports[int(rank[0].split(b'=')[1])] = port
    return ports


# Random bytes in connections of their own, of which some stay.
def send_what_is_nothing(port, held, choice):
    for _ in range(20):
        one = socket.create_connection(('127.0.0.1', port))
        try:
            one.sendall(choice.randbytes(choice.choice((0, 1, 7, 16, 100, 10_000))))
        except OSError:
            pass  # closed by the rank, which is fine
        if choice.random() < 0.5:
            held.append(one)
        else:
            one.close()


# As long as the job runs. Repeatedly, since a stranger may not get a connection.
def send_as_strangers(job, provider):
    said, strangers = '', []
    while job.process.poll() is None:
        try:
            strangers = [subprocess.Popen([STRANGER, provider, str(port), str(1 - rank)], stderr=subprocess.PIPE)
                         for rank, port in ports_of(job).items()]
            job.process.wait(5)  # time: between polls
        except subprocess.TimeoutExpired:
            pass
        finally:
            for stranger in strangers:
                stranger.kill()
                said += stranger.communicate()[1].decode()
    return said


def strangers_send_over(provider):
    job = Job([FULT_RUN, '-n', 2, PROGRAM, 'attacked', 12 if SLOW else 200],
              env={'FULT_WORKERS': '1', 'FULT_COMM_NETWORK': provider, **NETWORK})
    held = []
    try:
        until(lambda: len(ports_of(job)) == 2 or job.process.poll() is not None, 'the ports of the ranks')
        choice = random.Random(1)
        for port in ports_of(job).values():
            send_what_is_nothing(port, held, choice)
        said = send_as_strangers(job, provider)
        status, out, err = job.finish()
    finally:
        job.process.kill()
        for one in held:
            one.close()
    if 'no provider' in err:
        raise Skipped(err.splitlines()[0])
    expect(status == 0 and out.count('attacked: ok') == 2, f'status {status}: {out} {err[-3000:]} {said}')
    expect(err.count('is not of this job') == 2, err)


def strangers_send_over_datagrams():
    """Processes outside the job send random bytes, and packets with a wrong secret or none, over `net`."""
    strangers_send_over('net')


def strangers_send_over_connections():
    """The same over `tcp;ofi_rxm`."""
    strangers_send_over('tcp;ofi_rxm')


def little_shared_memory(size, ranks, *cases, **environment):
    inside = f'mount -t tmpfs -o size={size} none /dev/shm && exec "$@"'
    apart = ['unshare', '--map-root-user', '--mount', 'sh', '-c', inside, 'sh']
    try:
        if run([*apart, 'true'])[0] != 0:
            raise Skipped('no mount namespace of our own')
    except OSError as why:
        raise Skipped(str(why))
    environment = {'FULT_WORKERS': '1', 'FULT_COMM_INTERFACE': '127.0.0.1', **environment}
    status, out, err = run([*apart, FULT_RUN, '-n', ranks, PROGRAM, *cases], env=environment)
    if 'no provider' in err:
        raise Skipped(err.splitlines()[0])
    done = [line.split(':')[0] for line in out.splitlines() if ': ok' in line]
    expect(status == 0 and done == list(cases), f'status {status}, done {done}: {err[-3000:]}')
    return out, err


def no_room_in_shared_memory():
    """/dev/shm has no room for any rank, or for some of them: the other pairs use it, these the network."""
    out, err = little_shared_memory('16k', 4, *FEW)
    expect('over shared' not in out and err.count('fult-comm:') == 1 and '--shm-size' in err, out + err)
    out, err = little_shared_memory('52k', 4, *FEW)
    expect(err.count('fult-comm:') == 1 and 'of the 4 ranks here go over the network' in err, out + err)
    # Timing determines which of the devices have room. There is one line, however many lack it.
    counts = []
    for size in range(36, 68, 4 if LONG else 8):
        out, err = little_shared_memory(f'{size}k', 2, SOME[0], FULT_COMM_DEVICES='4')
        counts.append(err.count('go over the network'))
    expect(max(counts) == 1, f'{counts}: {out} {err}')


def little_room_in_shared_memory():
    """/dev/shm of a few hundred KiB: rings and packets are smaller, and a line reports it."""
    out, err = little_shared_memory('400k', 5, *FEW)
    expect('over shared' in out and err.count('fult-comm:') == 1 and 'packets of' in err, out + err)


def many_ranks_share_their_memory():
    """20 ranks in 1 MiB, by the option: no complaint."""
    status, out, err = run([FULT_RUN, '-n', 20, PROGRAM, 'pieces', 'one_tag'],
                           env={'FULT_WORKERS': '1', 'FULT_COMM_SHARED_MEMORY': '1M'})
    expect(status == 0 and out.count(': ok') == 2 and err == '', f'{status} {out} {err}')


def never_received():
    """A rank that receives nothing for a while: its senders wait."""
    conforms(3, 'never_received', FULT_COMM_UNEXPECTED='300K', FULT_COMM_PACKETS='64')
    conforms(2, 'never_received', FULT_COMM_UNEXPECTED='200K', FULT_COMM_PACKETS='64', **NETWORK)


if __name__ == '__main__':
    sys.exit(main(cases_of('__main__')))

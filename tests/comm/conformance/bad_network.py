"""Network namespaces connected by a network that loses and delays packets. They exist as long as the process that made them.

Each namespace has one TUN device, fult0, whose packets arrive here: they are dropped, or delayed and then written to the
namespace that they are addressed to. No other namespace, nor the machine's own network, sees any of them, and nothing is
left behind. `tc qdisc ... netem` does the same, but many kernels lack it.

As a program: bad_network.py PID PROGRAM ARGUMENT ...  runs the program in the namespace of that process. PID may be a
comma-separated list, from which FULT_RUN_RANK selects.
"""
import ctypes
import fcntl
import heapq
import os
import random
import select
import signal
import socket
import struct
import sys
import threading
import time

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454ca, 0x1, 0x1000
SIOCGIFFLAGS, SIOCSIFFLAGS, SIOCSIFADDR, SIOCSIFNETMASK, IFF_UP = 0x8913, 0x8914, 0x8916, 0x891c, 0x1
libc = ctypes.CDLL(None, use_errno=True)


class Impossible(Exception):
    """Raised if the machine or the user cannot create such namespaces, with the reason."""


def call(name, *arguments):
    if getattr(libc, name)(*arguments) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f'{name}: {os.strerror(error)}')


def enter_user_namespace():
    """Makes an ordinary user root in a user namespace; for a process with one thread."""
    user, group = os.getuid(), os.getgid()
    call('unshare', CLONE_NEWUSER)
    for file, text in (('setgroups', 'deny'), ('uid_map', f'0 {user} 1'), ('gid_map', f'0 {group} 1')):
        with open(f'/proc/self/{file}', 'w') as out:
            out.write(text)


def address(number):
    return f'10.77.0.{number + 1}'


def bring_up(control, name):
    request = struct.pack('16sh22x', name, 0)
    flags = struct.unpack('16sh22x', fcntl.ioctl(control, SIOCGIFFLAGS, request))[1]
    fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack('16sh22x', name, flags | IFF_UP))


def make_device(number):
    """In a namespace of its own: the device, its address, and the descriptor of its other end."""
    tun = os.open('/dev/net/tun', os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack('16sh22x', b'fult0', IFF_TUN | IFF_NO_PI))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for request, text in ((SIOCSIFADDR, address(number)), (SIOCSIFNETMASK, '255.255.255.0')):
            value = struct.pack('16sHH4s8x', b'fult0', socket.AF_INET, 0, socket.inet_aton(text))
            fcntl.ioctl(control, request, value + bytes(8))
        bring_up(control, b'fult0')
        bring_up(control, b'lo')
    return tun


def hold(number, connection):
    """A process that keeps a namespace alive until the other end of the connection is closed."""
    try:
        if os.geteuid() != 0:
            enter_user_namespace()
        call('unshare', CLONE_NEWNET)
        tun = make_device(number)
        socket.send_fds(connection, [b'+'], [tun])
        os.close(tun)
    except OSError as error:
        connection.send(str(error).encode())
    connection.recv(1)


class Network:
    """A context manager. loss: the fraction of packets that is lost; delay: seconds; jitter: maximum additional delay."""

    def __init__(self, size, loss=0.0, delay=0.0, jitter=0.0, seed=1):
        self.loss, self.delay, self.jitter = loss, delay, jitter
        self.dice = random.Random(seed)
        self.carried = self.lost = 0
        self.cut = set()  # numbers whose packets are all lost
        self.holders, self.connections, self.ends = [], [], []
        try:
            for number in range(size):
                self.start(number)
        except BaseException:
            self.close()
            raise
        self.stop = os.pipe()
        self.thread = threading.Thread(target=self.carry)

    def start(self, number):
        ours, theirs = socket.socketpair()
        child = os.fork()
        if child == 0:
            ours.close()
            for each in self.connections:
                each.close()
            for each in self.ends:
                os.close(each)
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            try:
                hold(number, theirs)
            finally:
                os._exit(0)
        theirs.close()
        self.holders.append(child)
        self.connections.append(ours)
        text, descriptors, _, _ = socket.recv_fds(ours, 200, 1)
        if not descriptors:
            raise Impossible(text.decode() or 'the holder of a namespace has ended')
        self.ends.append(descriptors[0])

    def command(self, program):
        """Returns the command that runs the program as a rank, in the namespace of its number."""
        return [sys.executable, os.path.abspath(__file__), ','.join(map(str, self.holders)), *program]

    def carry(self):
        watch = select.poll()
        for each in [*self.ends, self.stop[0]]:
            watch.register(each, select.POLLIN)
        waiting, order = [], 0
        while True:
            now = time.monotonic()  # time: either order is right
            while waiting and waiting[0][0] <= now:
                _, _, to, packet = heapq.heappop(waiting)
                try:
                    os.write(self.ends[to], packet)
                except OSError:
                    self.lost += 1  # its queue is full, as a network's may be
            pause = max(0, waiting[0][0] - now) * 1000 if waiting else None
            for descriptor, _ in watch.poll(pause):
                if descriptor == self.stop[0]:
                    return
                for _ in range(64):
                    try:
                        packet = os.read(descriptor, 65536)
                    except BlockingIOError:
                        break
                    to = packet[19] - 1 if packet[0] >> 4 == 4 else -1
                    lost = self.dice.random() < self.loss or not 0 <= to < len(self.ends)
                    if lost or to in self.cut or self.ends.index(descriptor) in self.cut:
                        self.lost += 1
                        continue
                    self.carried += 1
                    order += 1
                    now = time.monotonic()  # time: either order is right
                    at = now + self.delay + self.dice.random() * self.jitter
                    heapq.heappush(waiting, (at, order, to, packet))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        os.write(self.stop[1], b'x')
        self.thread.join()
        for each in self.stop:
            os.close(each)
        self.close()

    def close(self):
        for each in self.ends:
            os.close(each)
        for each in self.connections:
            each.close()
        for each in self.holders:
            os.waitpid(each, 0)


def main():
    holder = sys.argv[1].split(',')[int(os.environ.get('FULT_RUN_RANK', '0'))]
    for kind, which in (('user', CLONE_NEWUSER), ('net', CLONE_NEWNET)):
        path = f'/proc/{holder}/ns/{kind}'
        if os.readlink(path) == os.readlink(f'/proc/self/ns/{kind}'):
            continue
        with open(path) as namespace:
            call('setns', namespace.fileno(), which)
    os.execvp(sys.argv[2], sys.argv[2:])


if __name__ == '__main__':
    main()

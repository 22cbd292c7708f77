// An echo server under load: a process of plain epoll keeps one message of 64 bytes under way on each of so
// many connections over loopback; counted are answers a second. The servers differ: a task a
// connection, or Boost.Asio's handlers. Server and load share the processors.
#pragma once

#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "common/clock.hpp"
#include "common/micro.hpp"
#include "common/processor_time.hpp"

namespace bench::echo {

inline constexpr std::size_t message_size = 64;

[[noreturn]] inline void give_up(const char *what) {
    std::fprintf(stderr, "echo: %s: %s\n", what, std::strerror(errno));
    std::_Exit(1);
}

// Raises the limit of descriptors, or fails with a remedy.
inline void allow_descriptors(unsigned long count) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= count)
        return;
    limit.rlim_cur = count;
    limit.rlim_max = std::max(limit.rlim_max, limit.rlim_cur);
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0)
        arguments::fail("too few descriptors for so many connections; raise `ulimit -n` or lower -n");
}

inline int listen_on_loopback(sockaddr_in &address) {
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t size = sizeof address;
    address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (listener < 0 || ::bind(listener, reinterpret_cast<sockaddr *>(&address), size) != 0 ||
        ::listen(listener, 4096) != 0 ||
        ::getsockname(listener, reinterpret_cast<sockaddr *>(&address), &size) != 0)
        give_up("listening on loopback");
    return listener;
}

struct answers_and_rate {
    unsigned long answers = 0; // in all
    double rate = 0;           // a second, once it has got going
};

// The load; all connections are there before it counts.
inline answers_and_rate load(const sockaddr_in &address, unsigned connections, double seconds) {
    const int on = ::epoll_create1(0);
    std::vector<int> sockets(connections);
    char data[message_size];
    std::memset(data, 'e', sizeof data);
    for (int &each : sockets) {
        each = ::socket(AF_INET, SOCK_STREAM, 0);
        if (each < 0 || ::connect(each, reinterpret_cast<const sockaddr *>(&address), sizeof address) != 0)
            give_up("connecting");
        const int yes = 1;
        ::setsockopt(each, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        epoll_event what{};
        what.events = EPOLLIN;
        what.data.fd = each;
        ::epoll_ctl(on, EPOLL_CTL_ADD, each, &what);
    }
    for (const int each : sockets)
        if (::send(each, data, sizeof data, 0) != sizeof data)
            give_up("sending");
    std::vector<epoll_event> events(256);
    unsigned long answers = 0, before = 0;
    const double start = now(), warm = start + 0.3 * seconds, end = warm + seconds;
    double began = 0, time = start;
    while (time < end) {
        const int count = ::epoll_wait(on, events.data(), static_cast<int>(events.size()), 1000);
        for (int i = 0; i < count; ++i) {
            const int from = events[static_cast<std::size_t>(i)].data.fd;
            if (::recv(from, data, sizeof data, MSG_WAITALL) != sizeof data || data[message_size - 1] != 'e')
                give_up("an answer is wrong");
            if (::send(from, data, sizeof data, 0) != sizeof data)
                give_up("sending");
            ++answers;
        }
        time = now();
        if (began == 0 && time >= warm) {
            began = time;
            before = answers;
        }
    }
    return {answers, double(answers - before) / (time - began)};
}

// Forks the load, before the server has threads; the server runs until all connections are closed. Reports.
struct settings {
    unsigned connections = 10000;
    double seconds = 2;
};
inline int run(const char *version_name, unsigned workers, const settings &how,
               const std::function<void(int listener)> &server) {
    allow_descriptors(how.connections + 200);
    std::signal(SIGPIPE, SIG_IGN);
    sockaddr_in address;
    const int listener = listen_on_loopback(address);
    int result[2];
    if (::pipe(result) != 0)
        give_up("pipe");
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(listener);
        const answers_and_rate got = load(address, how.connections, how.seconds);
        std::_Exit(::write(result[1], &got, sizeof got) == sizeof got ? 0 : 1);
    }
    const double used_before = processor_seconds();
    server(listener);
    const double used = processor_seconds() - used_before;
    answers_and_rate got;
    int status = 1;
    ::waitpid(child, &status, 0);
    if (status != 0 || ::read(result[0], &got, sizeof got) != sizeof got) {
        std::fprintf(stderr, "echo: the load failed\n");
        return 1;
    }
    ::close(result[0]);
    ::close(result[1]);
    ::close(listener);
    record out = to_record({"echo", std::to_string(how.connections), version_name, workers, got.rate / 1000,
                            "thousand answers/s"});
    out.add("processor_us_per_answer", used * 1e6 / double(got.answers));
    out.print();
    return 0;
}

// The whole program: the options, then one record a round. The server gets the workers, the connections that
// will come, and the listening socket.
template <class Server> int main(int argc, char **argv, const char *version_name, const Server &server) {
    kernel_settings common;
    common.workers = 2;
    settings how;
    arguments line("echo: answers of an echo server, thousands per second.");
    line.option("-n,--size", how.connections, "connections");
    line.option("--seconds", how.seconds, "duration of the measurement");
    common.declare(line);
    line.parse(argc, argv);
    int status = 0;
    for (unsigned i = 0; i < common.rounds && status == 0; ++i)
        status = run(version_name, common.workers, how,
                     [&](int listener) { server(common.workers, how.connections, listener); });
    return status;
}

} // namespace bench::echo

// A task a connection.
#include <fult/descriptor.hpp>

#include "common/fult_version.hpp"
#include "echo.hpp"

namespace {

void serve(int connection) {
    const int yes = 1;
    ::setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    char data[1024];
    for (;;) {
        const ssize_t count = ::recv(connection, data, sizeof data, MSG_DONTWAIT);
        if (count == 0 || (count < 0 && errno != EAGAIN))
            break;
        if (count < 0)
            (void)fult::wait_readable(connection);
        else if (::send(connection, data, static_cast<std::size_t>(count), 0) != count)
            break;
    }
    fult::close_descriptor(connection);
}

void accept_all(int listener, unsigned connections) {
    std::vector<fult::handle<void>> tasks;
    while (tasks.size() < connections) {
        (void)fult::wait_readable(listener);
        const int connection = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (connection < 0)
            bench::echo::give_up("accept");
        tasks.push_back(fult::spawn([connection] { serve(connection); }));
    }
    fult::join_all(tasks);
}

} // namespace

int main(int argc, char **argv) {
    return bench::echo::main(argc, argv, "fult", [](unsigned workers, unsigned connections, int listener) {
        const fult::runtime running(bench::fult_options(workers));
        accept_all(listener, connections);
    });
}

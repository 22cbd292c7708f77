// A server. A blocking system call would stop a worker, so a thread outside the runtime waits in the kernel
// and passes each request to the server task through a channel. Each request is handled by a task of its own.
#include <cstdio>
#include <mutex>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fult/fult.hpp>
#include <fult/sync.hpp>

struct message {
    int number;
    long value;
};

bool read_message(int socket, message &m) { return ::recv(socket, &m, sizeof m, MSG_WAITALL) == sizeof m; }
bool write_message(int socket, const message &m) { return ::send(socket, &m, sizeof m, 0) == sizeof m; }

long square_of(long value) {
    auto again = fult::spawn([value] { return value; }); // a request may spawn and wait
    return value * again.join();
}

int serve(int socket) {
    fult::channel<message> requests(4);
    std::thread listener([&] {
        for (message m; read_message(socket, m);) // blocks this thread
            requests.send(m);
        requests.close();
    });
    fult::qlock writing;
    int served = 0;
    std::vector<fult::handle<void>> running;
    while (const auto request = requests.receive()) { // suspends this task
        ++served;
        running.push_back(fult::spawn([&writing, socket, m = *request] {
            const message answer{m.number, square_of(m.value)};
            const std::lock_guard one_at_a_time(writing);
            write_message(socket, answer);
        }));
    }
    fult::join_all(running);
    listener.join();
    return served;
}

int main() {
    constexpr int count = 200;
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
        std::perror("socketpair");
        return 1;
    }
    int right = 0;
    std::thread client([&, socket = ends[0]] {
        for (int i = 0; i < count; ++i)
            write_message(socket, {i, i + 1});
        std::vector<bool> seen(count);
        message answer;
        for (int i = 0; i < count && read_message(socket, answer); ++i) {
            right += !seen[answer.number] && answer.value == (answer.number + 1L) * (answer.number + 1L);
            seen[answer.number] = true;
        }
        ::close(socket); // the listener reads end of file
    });
    int served = 0;
    {
        fult::runtime runtime;
        served = fult::spawn(serve, ends[1]).join();
    }
    client.join();
    ::close(ends[1]);
    std::printf("%d requests, %d right answers\n", served, right);
    return served == count && right == count ? 0 : 1;
}

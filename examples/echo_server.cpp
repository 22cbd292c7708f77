// An echo server with one task per connection. Each task is plain sequential code that waits for its socket
// by wait_readable, so thousands of them share a few workers. The clients are tasks, too.
//
//     echo_server [connections [messages per connection]]
#include <arpa/inet.h>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>
#include <vector>

#include <fult/descriptor.hpp>
#include <fult/fult.hpp>

// Owns a socket.
class connection {
  public:
    explicit connection(int socket) : socket_(socket) {
        if (socket < 0)
            throw std::system_error(errno, std::generic_category(), "a connection");
    }
    connection(connection &&other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
    ~connection() {
        if (socket_ >= 0)
            fult::close_descriptor(socket_);
    }
    int number() const { return socket_; }

    // Returns 0 if the peer has closed the connection.
    std::size_t receive(char *data, std::size_t size) const {
        return again(&fult::wait_readable, [&] { return ::recv(socket_, data, size, MSG_DONTWAIT); });
    }
    void send(const char *data, std::size_t size) const {
        while (size != 0) {
            const std::size_t sent = again(&fult::wait_writable, [&] {
                return ::send(socket_, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
            });
            data += sent;
            size -= sent;
        }
    }

  private:
    template <class Call> std::size_t again(fult::descriptor_status (*wait)(int), const Call &call) const {
        for (;;) {
            const ssize_t count = call();
            if (count >= 0)
                return static_cast<std::size_t>(count);
            if (errno == EAGAIN)
                (void)wait(socket_); // suspends only this task
            else if (errno != EINTR)
                throw std::system_error(errno, std::generic_category(), "a connection");
        }
    }
    int socket_;
};

void echo(const connection &with) {
    char data[512];
    while (const std::size_t count = with.receive(data, sizeof data))
        with.send(data, count);
}

void accept_all(int listener, unsigned count) {
    std::vector<fult::handle<void>> open;
    while (open.size() < count) {
        const int accepted = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (accepted >= 0)
            open.push_back(fult::spawn([c = connection(accepted)] { echo(c); }));
        else if (errno == EAGAIN)
            (void)fult::wait_readable(listener);
        else if (errno != EINTR && errno != ECONNABORTED)
            throw std::system_error(errno, std::generic_category(), "accept");
    }
    fult::join_all(open);
}

// Returns the number of correct answers.
unsigned talk(const sockaddr_in &server, unsigned me, unsigned messages) {
    const connection c(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (::connect(c.number(), reinterpret_cast<const sockaddr *>(&server), sizeof server) != 0 &&
        errno == EINPROGRESS)
        (void)fult::wait_writable(c.number());
    unsigned right = 0;
    for (unsigned i = 0; i < messages; ++i) {
        char question[32], answer[32];
        const auto size = static_cast<std::size_t>(std::snprintf(question, sizeof question, "%u: %u", me, i));
        c.send(question, size);
        std::size_t got = 0;
        while (got < size) {
            const std::size_t more = c.receive(answer + got, size - got);
            if (more == 0)
                return right;
            got += more;
        }
        right += std::memcmp(question, answer, size) == 0;
    }
    return right;
}

// Both ends of each connection are in this process.
bool allow_descriptors(rlim_t count) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= count)
        return true;
    limit.rlim_cur = count;
    limit.rlim_max = limit.rlim_max < count ? count : limit.rlim_max;
    return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

int main(int argc, char **argv) {
    const unsigned count = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 100;
    const unsigned messages = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 10;
    if (!allow_descriptors(2 * rlim_t{count} + 100)) {
        std::fprintf(stderr, "%u connections need %u descriptors; raise `ulimit -n`, or ask for fewer\n",
                     count, 2 * count + 100);
        return 1;
    }
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    socklen_t size = sizeof address;
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (listener < 0 || ::bind(listener, reinterpret_cast<sockaddr *>(&address), size) != 0 ||
        ::listen(listener, 4096) != 0 ||
        ::getsockname(listener, reinterpret_cast<sockaddr *>(&address), &size) != 0) {
        std::perror("listening on loopback");
        return 1;
    }
    std::atomic<unsigned> right{0};
    {
        fult::runtime runtime;
        auto server = fult::spawn([&] { accept_all(listener, count); });
        std::vector<fult::handle<void>> clients;
        for (unsigned i = 0; i < count; ++i)
            clients.push_back(fult::spawn([&, i] { right += talk(address, i, messages); }));
        fult::join_all(clients);
        server.join();
    }
    ::close(listener);
    std::printf("%u connections, %u of %u answers right\n", count, right.load(), count * messages);
    return right == count * messages ? 0 : 1;
}

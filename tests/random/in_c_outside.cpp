// Sleeping, calls that block, and descriptors, by blocking.h.
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fult/blocking.h>

#include "acts.hpp"
#include "in_c_waits.hpp"
#include "spawning.hpp"

namespace random_programs::perform {
namespace {

using std::chrono::steady_clock;

// Whether the descriptor is ready. No memory: it has not waited.
template <class Wait> bool is_ready(actor &a, const char *call, const Wait &wait) {
    const unsigned form = a.random.below(4);
    const std::int64_t time = form == 0 ? -1 : form == 1 ? 0 : std::int64_t{a.random.below(300'000)};
    const int status = wait(time);
    check(status == FULT_SUCCESS || status == FULT_ERR_NO_MEMORY || (status == FULT_ERR_TIMEOUT && time >= 0),
          "%s, time %lld: status %d", call, static_cast<long long>(time), status);
    return status == FULT_SUCCESS;
}

// In a function of its own: the compiler may keep the address of errno across a call that suspends.
[[gnu::noinline]] int errno_now() { return errno; }

struct blocked_call {
    unsigned number;
    unsigned calls;
};
void *blocks(void *argument) {
    auto *const what = static_cast<blocked_call *>(argument);
    check(fult_self() == 0 && fult_worker() == -1, "a call that blocks runs as a task");
    expect_in_c("fult_yield", fult_yield(), FULT_ERR_NOT_A_TASK);
    ++what->calls;
    if (what->number % 3 == 0)
        ::usleep(what->number * 20); // time: either order is right
    errno = static_cast<int>(what->number) + 1;
    return what;
}

struct pipe_in_c {
    int ends[2] = {-1, -1};
    explicit pipe_in_c(draw &random) {
        const bool ok = random.one_in(2)
                            ? ::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0
                            : ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0;
        if (!ok)
            ends[0] = ends[1] = -1;
    }
    ~pipe_in_c() {
        for (const int each : ends)
            if (each >= 0)
                expect_in_c("fult_close_descriptor", fult_close_descriptor(each), 0);
    }
    pipe_in_c(const pipe_in_c &) = delete;
    pipe_in_c &operator=(const pipe_in_c &) = delete;
};

} // namespace

void c_sleep(actor &a) {
    const auto before = steady_clock::now(); // time: a lower bound
    const std::int64_t time =
        a.random.one_in(4) ? -std::int64_t{a.random.below(1000)} : a.random.below(2'000'000);
    const int status = fult_sleep_for(time);
    check(status == FULT_SUCCESS || status == FULT_ERR_NO_MEMORY, "fult_sleep_for: %d", status);
    // time: a lower bound
    check(status != FULT_SUCCESS || steady_clock::now() - before >= std::chrono::nanoseconds(time),
          "a sleep in C was too short");
}

void c_blocking(actor &a) {
    actor_group callers(a, a.random.between(1, 6), [](actor &self, unsigned number) {
        blocked_call what{number, 0};
        void *result = nullptr;
        const int status = fult_blocking(blocks, &what, self.random.one_in(4) ? nullptr : &result);
        const int error = errno_now();
        if (status == FULT_ERR_NO_MEMORY)
            return check(what.calls == 0, "fult_blocking has called what it refused");
        expect_in_c("fult_blocking", status);
        check(what.calls == 1 && (!result || result == &what), "fult_blocking: %u calls", what.calls);
        check(error == static_cast<int>(number) + 1, "fult_blocking: errno %d", error);
    });
    callers.join();
}

// Bytes in their order; in the end a descriptor is closed under a waiter.
void c_pipe(actor &a) {
    pipe_in_c line(a.random);
    if (line.ends[0] < 0)
        return;
    const unsigned count = a.random.between(1, a.random.one_in(4) ? 100'000 : 50);
    auto writer = spawn_somehow(a, [&in = a.in, to = line.ends[1], count, seed = a.random.next()] {
        actor self{in, draw(seed), 0};
        for (unsigned sent = 0; sent < count;) {
            char data[512];
            const unsigned part = std::min(count - sent, unsigned{sizeof data});
            for (unsigned i = 0; i < part; ++i)
                data[i] = static_cast<char>((sent + i) % 251);
            if (const ssize_t done = ::write(to, data, part); done > 0)
                sent += static_cast<unsigned>(done);
            else if (!is_ready(self, "fult_wait_writable", [&](auto t) { return fult_wait_writable(to, t); }))
                self.pause();
            moved();
        }
    });
    if (!writer.valid())
        return;
    for (unsigned got = 0; got < count;) {
        char data[512];
        const ssize_t done = ::read(line.ends[0], data, sizeof data);
        for (ssize_t i = 0; i < done; ++i, ++got)
            check(data[i] == static_cast<char>(got % 251), "byte %u of a pipe in C is wrong", got);
        if (done <= 0 &&
            !is_ready(a, "fult_wait_readable", [&](auto t) { return fult_wait_readable(line.ends[0], t); }))
            a.pause();
        moved();
    }
    writer.join();
    const int status = fult_wait_readable(line.ends[0], a.random.below(2000));
    check(status == FULT_ERR_TIMEOUT || status == FULT_ERR_NO_MEMORY, "an empty pipe is readable in C: %d",
          status);
}

} // namespace random_programs::perform

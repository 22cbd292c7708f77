// Ranks that fork in the midst of their traffic. The child is no rank: each of its calls ends it with the
// sentence that reports it, before anything is touched that the parent shares with other ranks. Messages of
// all acts show whether it has.
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <optional>
#include <string>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/comm/random/scene.hpp"
#include "tests/support/scale.hpp"

namespace fult::comm::testing {
namespace {

struct fork_end {
    std::string said;
    int status = 0;
};

// What the child has written to its standard error, and its status; nothing if no process is to be had.
std::optional<fork_end> end_of_fork(const std::function<void()> &call) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return std::nullopt;
    const pid_t child = ::fork();
    if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL); // a child that hangs ends with a program that fails
        const rlimit none{0, 0};
        ::setrlimit(RLIMIT_CORE, &none);
        ::dup2(ends[1], STDERR_FILENO);
        ::close(ends[0]);
        ::close(ends[1]);
        call();
        ::_exit(0);
    }
    ::close(ends[1]);
    fork_end how;
    char text[1024];
    for (ssize_t got; child > 0 && (got = ::read(ends[0], text, sizeof text)) > 0;)
        how.said.append(text, static_cast<std::size_t>(got));
    ::close(ends[0]);
    if (child < 0 || ::waitpid(child, &how.status, 0) != child)
        return std::nullopt;
    return how;
}

// The calls that a child tries. `open` is a receive that the parent has begun.
struct forked_call {
    const char *name;
    void (*call)(endpoint &through, request &open, int to);
};
constexpr forked_call forked_calls[] = {
    {"send", [](endpoint &e, request &, int to) { e.send(std::uint64_t{7}, to, 1); }},
    {"isend",
     [](endpoint &e, request &, int to) {
         const std::byte one{};
         e.isend(&one, 1, to, 1).wait();
     }},
    {"enqueue",
     [](endpoint &e, request &, int to) {
         const std::byte one{};
         e.enqueue(&one, 1, to, 1);
     }},
    {"recv",
     [](endpoint &e, request &, int to) {
         std::byte one;
         e.recv(&one, 1, to, 1);
     }},
    {"irecv",
     [](endpoint &e, request &, int to) {
         std::byte one;
         e.irecv(&one, 1, to, 1).wait();
     }},
    {"probe", [](endpoint &e, request &, int to) { e.probe(to, 1); }},
    {"try_probe", [](endpoint &e, request &, int to) { e.try_probe(to, 1); }},
    {"test", [](endpoint &, request &open, int) { open.test(); }},
    {"wait", [](endpoint &, request &open, int) { open.wait(); }},
    {"cancel", [](endpoint &, request &open, int) { open.cancel(); }},
    {"region",
     [](endpoint &e, request &, int) {
         std::uint64_t word = 0;
         const region one(e, &word, sizeof word);
     }},
    {"synchronizer", [](endpoint &e, request &, int) { synchronizer(e, 1).wait(); }},
    {"completion_queue", [](endpoint &e, request &, int) { completion_queue(e).pop(); }},
};

void try_in_a_child(actor &by, request &open, int to) {
    scene &in = by.in;
    const forked_call &one = by.roll.one_of(forked_calls);
    const bool may_return = by.roll.chance(20);
    endpoint &through = by.roll.chance(50) ? in.me.world : in.own[0];
    by.doing(may_return ? "fork" : one.name);
    const auto how = end_of_fork([&] {
        if (may_return) // with its copy of a request that is under way
            return;
        one.call(through, open, to);
    });
    if (!how)
        return;
    if (may_return)
        return in.expect(WIFEXITED(how->status) && WEXITSTATUS(how->status) == 0 && how->said.empty(),
                         "a child that calls nothing has status " + std::to_string(how->status) + ": " +
                             how->said);
    in.expect(WIFSIGNALED(how->status) && WTERMSIG(how->status) == SIGABRT &&
                  how->said.find("fult: fork: this process was forked while a runtime was running") !=
                      std::string::npos,
              std::string(one.name) + " in the child of a fork: status " + std::to_string(how->status) +
                  ": " + how->said);
}

// Receives from the rank before while the children come and go, and sends to the next one.
void fork_in_a_ring(actor &by, int rounds) {
    scene &in = by.in;
    const int next = (in.me.rank + 1) % in.me.size, before = (in.me.rank + in.me.size - 1) % in.me.size;
    const std::uint32_t tag = in.tag(1);
    for (int i = 0; i < rounds; ++i) {
        std::uint64_t got = 0;
        request open;
        by.attempt(before, "irecv", [&] { open = in.own[0].irecv(&got, sizeof got, before, tag); });
        // The children of a rank that is killed would remain.
        if (open.valid() && in.victim != in.me.rank && by.roll.chance(60))
            try_in_a_child(by, open, next);
        const auto word = [&](int rank) { return seed_of(in.seed, rank, i); };
        by.attempt(next, "send", [&] { in.own[0].send(word(in.me.rank), next, tag); });
        if (open.valid() && by.attempt(before, "wait", [&] { open.wait(); }))
            in.expect(got == word(before), "a message to a rank that forks is another one");
        by.dawdle();
    }
}

void begin_forks(scene &in) {
    if (fult::testing::sanitized ||
        fult::testing::under_valgrind()) // their own threads do not survive a fork
        return;
    dice d = in.shared(0);
    in.all->add(in, "forks", [rounds = d.between(1, 6)](actor &by) { fork_in_a_ring(by, rounds); });
}

constexpr act_kind forks_kinds[] = {
    {"forks", 1, nullptr, begin_forks, nullptr},
};

} // namespace

std::span<const act_kind> fork_acts() { return forks_kinds; }

} // namespace fult::comm::testing

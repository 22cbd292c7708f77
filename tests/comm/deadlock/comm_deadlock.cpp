// Ranks that all wait forever, and ranks of which one continues eventually. usage: comm_deadlock CASE
//
// A case of the first table never ends by itself. A case of the second one succeeds after some time in which
// all tasks but one wait, or all tasks of all ranks wait for an external event. That time is long enough for
// many checks for a deadlock; on a busy machine there may be fewer.
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>
#include <sys/timerfd.h> // time: either order is right
#include <thread>
#include <unistd.h>
#include <vector>

#include <fult/blocking.hpp>
#include <fult/comm.hpp>
#include <fult/descriptor.hpp>
#include <fult/fult.hpp>
#include <fult/sync.hpp>

namespace {

using namespace fult;
using namespace fult::comm;
using std::chrono::milliseconds;

constexpr milliseconds some_time{1000}; // time: either order is right
int next(const context &net) { return (net.rank() + 1) % net.size(); }
int previous(const context &net) { return (net.rank() + net.size() - 1) % net.size(); }
bool is_first(const context &net) { return net.rank() == 0; }

void wait_forever() {
    event never;
    never.wait();
}

// Deadlocks ---------------------------------------------------------------------------------------------------

void all_receive(context &net) { net.world().recv<int>(previous(net), 7); }

void all_send_long(context &net) {
    const std::vector<std::byte> much(3'000'000);
    net.world().send(much.data(), much.size(), next(net), 8);
}

void barrier_and_receive(context &net) {
    if (is_first(net))
        net.world().recv<int>(1, 9);
    else
        comm::barrier(net.world());
}

void skipped_collective(context &net) {
    if (is_first(net))
        wait_forever();
    allreduce(net.world(), net.rank(), std::plus<>());
}

void from_any_rank(context &net) {
    endpoint open = net.make_endpoint({.wildcards = true});
    int in = 0;
    open.recv(&in, sizeof in, any_source, any_tag);
}

// Each waits for the rank before it among those, whose order is reversed.
void subset_receives(context &net) {
    std::vector<int> backwards;
    for (int rank = net.size(); rank-- > 0;)
        backwards.push_back(rank);
    endpoint own = net.world().subset(backwards);
    own.recv<int>((own.rank() + own.size() - 1) % own.size(), 7);
}

// Each gets messages that its receive does not match: of its source, with its tag, and others.
void receives_another(context &net, endpoint &on) {
    on.send(1, next(net), 5);
    on.send(std::array{1, 2}, previous(net), 7);
    for (unsigned tag = 8; tag < 11; ++tag)
        on.send(3, previous(net), tag);
    on.recv<int>(previous(net), 7);
}
void another_tag(context &net) { receives_another(net, net.world()); }
void another_tag_with_wildcards(context &net) {
    endpoint open = net.make_endpoint({.wildcards = true});
    receives_another(net, open);
}

// After messages of all kinds, some of which are not received.
void after_messages(context &net) {
    endpoint far = net.make_endpoint({.device = comm::read_options().devices - 1});
    std::vector<handle<void>> tasks;
    for (unsigned tag = 0; tag < 20; ++tag)
        tasks.push_back(spawn([&net, &far, tag] {
            endpoint &on = tag % 2 == 0 ? far : net.world();
            std::vector<std::byte> out(tag % 3 == 0 ? 100'000 : 100), in(100'000);
            for (int i = 0; i < 50; ++i)
                on.sendrecv(out.data(), out.size(), next(net), tag, in.data(), in.size(), previous(net), tag);
        }));
    join_all(tasks);
    far.send(1, next(net), 500);
    net.world().send(2, next(net), 501);
    std::vector<std::byte> memory(100'000), got(100'000);
    region own(far, memory);
    std::vector<remote_region> all(static_cast<std::size_t>(net.size()));
    allgather(far, own.remote(), all);
    get(far, got, all[static_cast<std::size_t>(next(net))]);
    far.recv<int>(previous(net), 7);
}

// The last rank's context has ended; the others wait for each other.
void one_has_left(context &net) {
    if (net.rank() == net.size() - 1)
        return;
    const int others = net.size() - 1;
    net.world().recv<int>((net.rank() + others - 1) % others, 7);
}

// Another thread of the program exists, and ends before all of them wait forever.
void a_thread_has_ended(context &net) {
    // time: either order is right
    std::thread([] { std::this_thread::sleep_for(milliseconds(300)); }).detach();
    all_receive(net);
}

// A rank that is busy while all others wait finally waits too.
void one_is_late(context &net) {
    if (is_first(net))
        std::this_thread::sleep_for(some_time); // time: either order is right
    all_receive(net);
}

void another_is_late(context &net) {
    if (net.rank() == net.size() - 1)
        this_task::sleep_for(some_time); // time: either order is right
    all_receive(net);
}

// No deadlocks ------------------------------------------------------------------------------------------------

// The first rank does this, while all others wait for it in a ring.
template <class Work> void while_the_first(context &net, Work work) {
    if (is_first(net))
        work();
    else
        net.world().recv<int>(previous(net), 7);
    net.world().send(1, next(net), 7);
    if (is_first(net))
        net.world().recv<int>(previous(net), 7);
}

void computes(context &net) {
    while_the_first(net, [] {
        const auto now = &std::chrono::steady_clock::now; // time: either order is right
        for (const auto end = now() + some_time; now() < end;)
            fult::detail::cpu_relax();
    });
}

void sleeps(context &net) {
    while_the_first(net, [] { this_task::sleep_for(some_time); }); // time: either order is right
}

void waits_for_a_thread(context &net) {
    while_the_first(net, [] {
        event done;
        std::thread other([&] {
            std::this_thread::sleep_for(some_time); // time: either order is right
            done.set();
        });
        done.wait();
        other.join();
    });
}

void blocks(context &net) {
    while_the_first(net, [] {
        run_blocking([] { std::this_thread::sleep_for(some_time); }); // time: either order is right
    });
}

void waits_for_a_descriptor(context &net) {
    while_the_first(net, [] {
        const int clock = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC); // time: either order is right
        const itimerspec once{{}, {some_time.count() / 1000, some_time.count() % 1000 * 1'000'000}};
        ::timerfd_settime(clock, 0, &once, nullptr); // time: either order is right
        wait_readable(clock);
        ::close(clock);
    });
}

event signal_came;
void waits_for_a_signal(context &net) {
    while_the_first(net, [] {
        // The handler runs in a thread that polls, or sleeps.
        ::signal(SIGALRM, [](int) { signal_came.set(); });
        ::ualarm(static_cast<useconds_t>(some_time.count() * 1000 - 1), 0); // time: either order is right
        signal_came.wait();
    });
}

// Each rank waits nearly always, and never all of them forever.
void pauses(context &net) {
    for (int i = 0; i < 21; ++i) {
        if (i % net.size() == net.rank())
            this_task::sleep_for(milliseconds(20 + i % 7 * 15)); // time: either order is right
        comm::barrier(net.world());
    }
}

// One rank at a time has work, for short times in which the others check for a deadlock, and passes it on by
// all kinds of messages.
void relay(context &net) {
    endpoint far = net.make_endpoint({.device = comm::read_options().devices - 1});
    std::vector<std::byte> memory(300'000), bytes(300'000);
    region own(far, memory);
    std::vector<remote_region> all(static_cast<std::size_t>(net.size()));
    allgather(far, own.remote(), all);
    std::minstd_rand random(static_cast<unsigned>(net.rank() + 1));
    const auto work = [&] {
        const auto now = &std::chrono::steady_clock::now; // time: either order is right
        // time: either order is right
        for (const auto end = now() + std::chrono::microseconds(random() % 3000); now() < end;)
            fult::detail::cpu_relax();
    };
    constexpr int rounds = 200;
    for (int i = 0; i < rounds; ++i) {
        const unsigned tag = static_cast<unsigned>(i) % 5;
        endpoint &on = i % 2 == 0 ? far : net.world();
        const std::size_t size = tag == 1 ? bytes.size() : 10;
        const auto pass = [&] {
            work();
            if (tag == 2)
                put(far, bytes, all[static_cast<std::size_t>(next(net))]);
            on.send(bytes.data(), size, next(net), tag);
        };
        if (is_first(net))
            pass();
        on.recv(bytes.data(), bytes.size(), previous(net), tag);
        if (!is_first(net))
            pass();
    }
}

void another_context(context &net) {
    context second;
    while_the_first(second, [&] { this_task::sleep_for(some_time); }); // time: either order is right
    comm::barrier(net.world());
}

struct named_case {
    std::string_view name;
    void (*run)(context &);
};
constexpr std::array cases = std::to_array<named_case>({
    {"all_receive", all_receive},
    {"all_send_long", all_send_long},
    {"barrier_and_receive", barrier_and_receive},
    {"skipped_collective", skipped_collective},
    {"from_any_rank", from_any_rank},
    {"subset_receives", subset_receives},
    {"another_tag", another_tag},
    {"another_tag_with_wildcards", another_tag_with_wildcards},
    {"after_messages", after_messages},
    {"one_has_left", one_has_left},
    {"a_thread_has_ended", a_thread_has_ended},
    {"one_is_late", one_is_late},
    {"another_is_late", another_is_late},
    {"computes", computes},
    {"sleeps", sleeps},
    {"waits_for_a_thread", waits_for_a_thread},
    {"blocks", blocks},
    {"waits_for_a_descriptor", waits_for_a_descriptor},
    {"waits_for_a_signal", waits_for_a_signal},
    {"pauses", pauses},
    {"relay", relay},
    {"another_context", another_context},
});

} // namespace

int main(int argc, char **argv) {
    const runtime running;
    context net;
    for (const named_case &each : cases)
        if (argc == 2 && each.name == argv[1]) {
            each.run(net);
            if (is_first(net))
                std::printf("%s: ok\n", argv[1]);
            return 0;
        }
    std::fprintf(stderr, "usage: comm_deadlock CASE\n");
    return 2;
}

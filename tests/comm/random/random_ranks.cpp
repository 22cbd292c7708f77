// A random program, as one of its ranks: see README.md. Started by random_test.py.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/comm/conformance/ranks.hpp"
#include "tests/comm/random/in_c.hpp"
#include "tests/support/scale.hpp"
#include "tools/command_line.hpp"

namespace fult::comm::testing {
namespace {

struct arguments {
    std::uint64_t seed = 1;
    int ranks = 1;
    bool loopback = false; // all ranks in this process
    fault_plan faults;
    std::string only;
    unsigned limit = 60;
    unsigned workers = 0; // 0: drawn from the seed
    bool threads = true;
};

fault_plan faults_of(std::string_view list) {
    fault_plan f;
    while (!list.empty()) {
        const std::string_view one = list.substr(0, list.find(','));
        list.remove_prefix(std::min(list.size(), one.size() + 1));
        if (one == "kill")
            f.kill = true;
        else if (one == "silent")
            f.silent = true;
        else if (one == "stop")
            f.stop = true;
        else if (one == "slow")
            f.slow = true;
        else if (one == "scarce")
            f.scarce = true;
        else if (one == "fds")
            f.fds = true;
        else if (one != "none")
            throw std::invalid_argument("there is no fault called '" + std::string(one) + "'");
    }
    return f;
}

void declare(tools::command_line &line, arguments &a) {
    line.add_option("--seed", a.seed, "of the program")->type_name("N");
    line.add_option("--ranks", a.ranks, "how many")->type_name("N")->transform(tools::whole_number(1, 1024));
    line.add_switch("--loopback", a.loopback, "all ranks in this process");
    line.add_option_function<std::string>(
            "--faults", [&a](const std::string &list) { a.faults = faults_of(list); },
            "some of kill, silent, stop, slow, scarce, fds with commas between them, or none")
        ->type_name("LIST");
    line.add_option("--only", a.only, "one kind of act")->type_name("KIND");
    line.add_option("--limit", a.limit, "seconds without a step that count as a hang; 0: none do")
        ->type_name("SECONDS");
    line.add_option("--workers", a.workers, "of each rank; else as the seed says")->type_name("N");
    line.add_option("--threads", a.threads, "0: no foreign threads")->type_name("0|1");
}

// Scenes outlive all contexts: a task of a message may end late.
using scenes = std::list<scene>;

// A rank that is stopped for a while, by the next one.
void stop_and_go_on(pid_t process, dice d) {
    ::kill(process, SIGSTOP);
    // time: either order is right
    std::this_thread::sleep_for(std::chrono::milliseconds(d.between(1, 400)));
    ::kill(process, SIGCONT);
}

// A task that computes, and calls nothing.
void compute(std::uint64_t seed) {
    dice d(seed);
    for (int i = d.between(1, 4); i > 0; --i) {
        const auto now = &std::chrono::steady_clock::now; // time: either order is right
        // time: either order is right
        for (const auto until = now() + std::chrono::microseconds(d.below(15'000)); now() < until;)
            ;
        this_task::yield();
    }
}

// Continues the victim when this rank has taken it for dead: it goes on with what it was doing.
void wake_when_failed(member &me, int victim, pid_t process) {
    std::uint64_t never = 0;
    try {
        me.world.recv(never, victim, 0xfffffffd);
    } catch (const error &e) {
        if (e.code() == errc::peer_failed && me.has_failed(victim)) {
            ::kill(process, SIGCONT);
            return;
        }
    }
    me.guard.fail("a receive from a rank that is stopped has not ended by its failure");
}

void begin_faults(member &me, const phase_plan &p, const std::vector<pid_t> &processes,
                  std::vector<std::thread> &helpers, std::vector<handle<void>> &tasks) {
    dice d(seed_of(p.seed, me.rank));
    if (p.slow && d.chance(50))
        tasks.push_back(spawn([seed = d.next()] { compute(seed); }));
    if (me.rank == stopper(p, me.size) && !processes.empty())
        helpers.emplace_back(stop_and_go_on, processes[static_cast<std::size_t>(p.stopped)], d);
    if (p.silent && me.rank == waker(p, me.size) && p.victim != me.rank)
        helpers.emplace_back(
            [&me, victim = p.victim, process = processes[static_cast<std::size_t>(p.victim)]] {
                wake_when_failed(me, victim, process);
            });
    if (p.victim != me.rank)
        return;
    last_signal.store(p.silent ? SIGSTOP : SIGKILL, std::memory_order_relaxed);
    if (d.chance(50))
        steps_to_live = d.between(1, d.chance(50) ? 30 : 1000);
    else
        // time: either order is right
        helpers.emplace_back([time = std::chrono::microseconds(d.below(d.chance(50) ? 3000 : 40'000))] {
            std::this_thread::sleep_for(time); // time: either order is right
            fail_now();
        });
}

// The victim of the phase may have left the barrier and ended while others are still in it.
void enter_together(member &me, int victim) {
    try {
        me.barrier();
    } catch (const error &e) {
        if (victim < 0 || e.code() != errc::peer_failed || !me.has_failed(victim))
            throw;
    }
}

// The acts of a phase, on this rank.
void run_phase(member &me, const context_plan &with, std::size_t context, std::size_t number,
               const std::vector<pid_t> &processes, scenes &kept) {
    const phase_plan &p = with.phases[number];
    if (p.barrier)
        enter_together(me, p.victim);
    actor_group all(me, p.seed);
    std::vector<scene *> now;
    for (std::size_t i = 0; i < p.acts.size(); ++i) {
        const act_plan &act = p.acts[i];
        kept.push_back({me, with, act.seed,
                        "context " + std::to_string(context) + ", phase " + std::to_string(number) +
                            ", act " + std::to_string(i) + " (" + act.kind->name + ")",
                        static_cast<std::uint32_t>((context * 64 + number) * 64 + i) * 256});
        scene &s = kept.back();
        s.victim = p.victim;
        s.all = &all;
        s.after = act.kind->after;
        s.own.reserve(
            static_cast<std::size_t>(act.kind->endpoints)); // a handler may use the first ones already
        for (int n = 0; n < act.kind->endpoints; ++n) {
            endpoint_options how = act.kind->endpoint ? act.kind->endpoint(s, static_cast<std::uint64_t>(n))
                                                      : endpoint_options{};
            how.device = act.device;
            s.own.push_back(me.make_endpoint(std::move(how)));
        }
        now.push_back(&s);
    }
    std::vector<std::thread> helpers;
    std::vector<handle<void>> tasks;
    begin_faults(me, p, processes, helpers, tasks);
    for (std::size_t i = 0; i < now.size(); ++i)
        p.acts[i].kind->begin(*now[i]);
    all.join();
    join_all(tasks);
    if (p.victim == me.rank) {
        fail_now();
        std::raise(SIGKILL);
    }
    for (std::thread &each : helpers)
        each.join();
    for (std::size_t i = 0; i < now.size(); ++i) {
        if (p.acts[i].kind->end)
            p.acts[i].kind->end(*now[i]);
        now[i]->own.clear();
    }
}

// The remaining ranks continue with each other, and know of the loss.
void go_on_without(member &me, int victim) {
    endpoint &world = me.world;
    constexpr std::uint32_t tag = 0xfffffffe;
    std::vector<std::byte> in(100'000), out(100'000);
    for (int other = 0; other < me.size; ++other) {
        if (other == me.rank)
            continue;
        try {
            request sent = world.isend(out, other, tag);
            world.recv(in, other, tag);
            sent.wait();
            if (other != victim)
                continue;
        } catch (const error &e) {
            if (other == victim && e.code() == errc::peer_failed && me.has_failed(victim))
                continue;
        }
        me.guard.fail("rank " + std::to_string(me.rank) + ": after the loss of rank " +
                      std::to_string(victim) + ", an exchange with rank " + std::to_string(other) +
                      " ended wrong");
    }
}

// A receive from any source ends when all other ranks have left, though a message of this rank itself may
// come.
bool needs_all_ranks(const context_plan &with) {
    for (const phase_plan &phase : with.phases)
        for (const act_plan &act : phase.acts)
            if (act.kind->name == std::string_view("wildcards") ||
                act.kind->name == std::string_view("c_deliveries"))
                return true;
    return false;
}

void run_context(member &me, const program &all, std::size_t number, scenes &kept) {
    const context_plan &with = all.contexts[number];
    std::vector<pid_t> processes(static_cast<std::size_t>(me.size));
    allgather(me.world, ::getpid(), processes);
    if (processes.front() == processes.back() && me.size > 1) // over loopback
        processes.clear();
    for (std::size_t i = 0; i < with.phases.size(); ++i) {
        run_phase(me, with, number, i, processes, kept);
        if (with.phases[i].victim >= 0)
            go_on_without(me, with.phases[i].victim);
    }
    for (scene &each : kept)
        if (each.after)
            each.after(each);
    if (const phase_plan &last = with.phases.back(); last.silent && me.rank == waker(last, me.size))
        ::kill(processes[static_cast<std::size_t>(last.victim)], SIGKILL);
    if (with.phases.back().victim < 0 && needs_all_ranks(with))
        me.barrier();
}

fult::options runtime_options(const arguments &a) {
    fult::options o = fult::read_options();
    dice d(seed_of(a.seed, 11));
    if (a.loopback || d.chance(50))
        o.bind = fult::bind_mode::off;
    o.workers = a.workers != 0 ? a.workers : d.between(1U, 4U);
    return o;
}

std::string description(const arguments &a, const context_plan &c) {
    const comm::options &o = c.options;
    return "seed " + std::to_string(a.seed) + ": packet_size " + std::to_string(o.packet_size) +
           ", packets " + std::to_string(o.packets) + ", rendezvous " + std::to_string(o.rendezvous) +
           ", unexpected " + std::to_string(o.unexpected) + ", gather " + (o.gather ? "on" : "off") +
           ", devices " + std::to_string(o.devices) + ", server " +
           (o.progress == progress_policy::dedicated ? "dedicated" : "workers") + (c.in_c ? ", in C" : "");
}

void use_one_device(context_plan &plan) {
    plan.options.devices = 1;
    for (phase_plan &phase : plan.phases)
        for (act_plan &act : phase.acts)
            act.device = 0;
}

void over_loopback(const arguments &a, watch &guard) {
    program all = make_program(a.seed, a.ranks, a.faults, comm::read_options(), a.only);
    const runtime running(runtime_options(a));
    std::mutex lock;
    std::list<member> members;
    std::vector<scenes> kept(static_cast<std::size_t>(a.ranks) * all.contexts.size());
    for (std::size_t i = 0; i < all.contexts.size(); ++i) {
        use_one_device(all.contexts[i]); // a runtime has no room for the servers of all ranks' devices
        guard.describe(description(a, all.contexts[i]));
        dice d(seed_of(a.seed, 12, i));
        world_settings settings;
        settings.ranks = a.ranks;
        settings.options = all.contexts[i].options;
        settings.network.one_sided = d.chance(60);
        settings.network.local_keys = d.chance(30);
        settings.network.depth = d.chance(30) ? 4 : 1024;
        settings.network.refuse_every = d.chance(30) ? d.between(2U, 9U) : 0;
        settings.network.message = settings.options.packet_size;
        settings.network.inject = std::min<std::size_t>(settings.options.packet_size, 256);
        run_ranks(settings, [&](party &p, world &w) {
            detail::job &own = *w.jobs[static_cast<std::size_t>(p.rank)];
            member *me = nullptr;
            {
                const std::lock_guard held(lock);
                me = &members.emplace_back(
                    member{p.rank, p.size, own.world,
                           [&own](endpoint_options o) { return own.make_endpoint(std::move(o)); },
                           [&own] { own.barrier(); }, [&own](int r) { return own.is_lost(r); },
                           [&own] { return own.progress(); }, guard, a.seed, a.threads, false});
            }
            run_context(*me, all, i,
                        kept[i * static_cast<std::size_t>(a.ranks) + static_cast<std::size_t>(p.rank)]);
        });
    }
}

// A context of the C++ interface or of that in C.
class membership {
  public:
    membership(const context_plan &plan, watch &guard) : guard_(guard) {
        if (!plan.in_c) {
            net_ = &own_.emplace(plan.options);
            return;
        }
        refuse_to_begin();
        const comm::options &o = plan.options;
        fult_comm_options given = FULT_COMM_OPTIONS_INIT;
        given.packet_size = o.packet_size;
        given.packets = o.packets;
        given.rendezvous = o.rendezvous;
        given.unexpected = o.unexpected;
        given.gather = o.gather;
        const std::string devices = std::to_string(o.devices); // which the structure does not have
        ::setenv("FULT_COMM_DEVICES", devices.c_str(), 1);
        if (fult_comm_init(&given) != FULT_SUCCESS)
            throw std::runtime_error(fult_comm_error_text());
        net_ = &detail::the_context()->object;
    }
    ~membership() {
        if (own_)
            return;
        fult_comm_endpoint_t left = nullptr;
        expect("endpoint_create", fult_comm_endpoint_create(&left, nullptr), FULT_SUCCESS);
        expect("finalize with an endpoint", fult_comm_finalize(), FULT_COMM_ERR_IN_USE);
        expect("endpoint_destroy", fult_comm_endpoint_destroy(left), FULT_SUCCESS);
        expect("finalize", fult_comm_finalize(), FULT_SUCCESS);
        expect("finalize again", fult_comm_finalize(), FULT_COMM_ERR_NO_CONTEXT);
        expect("send without a context", fult_comm_send(fult_comm_world(), nullptr, 0, 0, 0),
               FULT_COMM_ERR_NO_CONTEXT);
        if (fult_comm_rank() != -1 || fult_comm_size() != 0 || fult_comm_launcher())
            guard_.fail("a rank without a context");
    }
    membership(const membership &) = delete;
    membership &operator=(const membership &) = delete;
    context &net() const noexcept { return *net_; }

  private:
    void expect(const char *call, int status, int wanted) const {
        if (status != wanted)
            guard_.fail(std::string(call) + ": status " + std::to_string(status) + ": " +
                        fult_comm_error_text());
    }
    // Wrong options: the next call begins as if there had been none.
    void refuse_to_begin() const {
        fult_comm_options wrong = FULT_COMM_OPTIONS_INIT;
        wrong.size = 1;
        expect("init with a wrong size", fult_comm_init(&wrong), FULT_ERR_INVALID);
        wrong = FULT_COMM_OPTIONS_INIT;
        wrong.packet_size = 1;
        expect("init with packets of 1 byte", fult_comm_init(&wrong), FULT_ERR_INVALID);
        wrong = FULT_COMM_OPTIONS_INIT;
        wrong.server = "none";
        expect("init with a wrong server", fult_comm_init(&wrong), FULT_ERR_INVALID);
        if (fult_comm_world() || fult_comm_rank() != -1)
            guard_.fail("a context that was refused is there");
    }

    watch &guard_;
    std::optional<context> own_;
    context *net_ = nullptr;
};

// While it lives, this process may open few more descriptors.
class scarce_descriptors {
  public:
    explicit scarce_descriptors(rlim_t more) {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        const int next = ::dup(STDERR_FILENO); // the lowest number that is free
        ::close(next);
        rlimit now = before_;
        now.rlim_cur = static_cast<rlim_t>(next) + more;
        ::setrlimit(RLIMIT_NOFILE, &now);
    }
    ~scarce_descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    scarce_descriptors(const scarce_descriptors &) = delete;
    scarce_descriptors &operator=(const scarce_descriptors &) = delete;

  private:
    rlimit before_{};
};

// Of this process in its job: before there is a context.
std::uint64_t process_number() {
    const char *rank = std::getenv("FULT_RUN_RANK");
    return rank ? std::strtoull(rank, nullptr, 10) : 0;
}

// About as many as a context of few ranks needs, more or less.
void make_descriptors_scarce(std::optional<scarce_descriptors> &now, const arguments &a,
                             std::size_t context) {
    dice d(seed_of(a.seed, 13, process_number(), context));
    // UBSan opens descriptors for its checks, and reports objects as invalid where it gets none.
    if (a.faults.fds && !fult::testing::sanitized && d.chance(60))
        now.emplace(d.below(rlim_t{40}));
}

void between_processes(const arguments &a, watch &guard) {
    const int ranks = a.ranks;
    const program all = make_program(a.seed, ranks, a.faults, comm::read_options(), a.only);
    std::optional<scarce_descriptors> scarce;
    make_descriptors_scarce(scarce, a, all.contexts.size());
    const runtime running(runtime_options(a));
    std::list<member> members;
    std::list<scenes> kept;
    for (std::size_t i = 0; i < all.contexts.size(); ++i) {
        guard.describe(description(a, all.contexts[i]));
        make_descriptors_scarce(scarce, a, i);
        const membership here(all.contexts[i], guard);
        context &net = here.net();
        scarce.reset();
        if (net.size() != ranks)
            guard.fail("the job has " + std::to_string(net.size()) + " ranks");
        endpoint meeting = net.make_endpoint();
        members.push_back({net.rank(), net.size(), net.world(),
                           [&net](endpoint_options o) { return net.make_endpoint(std::move(o)); },
                           [&meeting] { barrier(meeting); }, [&net](int r) { return net.has_failed(r); },
                           [&net] { return net.progress(); }, guard, a.seed, a.threads, true});
        run_context(members.back(), all, i, kept.emplace_back());
    }
}

} // namespace
} // namespace fult::comm::testing

int main(int count, char **words) {
    using namespace fult::comm::testing;
    try {
        arguments a;
        fult::tools::command_line line("A random program, as one of its ranks.", "random_ranks");
        declare(line, a);
        if (const auto status = line.read(count, words))
            return *status;
        watch guard("seed " + std::to_string(a.seed), a.limit);
        if (a.loopback)
            over_loopback(a, guard);
        else
            between_processes(a, guard);
        std::printf("well\n");
    } catch (const std::exception &e) {
        std::fprintf(stderr, "random_ranks: %s\n", e.what());
        return 1;
    }
    return 0;
}

// A rank runs out of memory while it handles messages of others, at each allocation in turn. No message is
// lost or delivered twice, and the program continues.
#include <array>
#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <new>
#include <utility>

#include <fult/sync/event.hpp>

#include "tests/comm/conformance/ranks.hpp"

namespace {

// Allocations of this thread while it is armed: a number of them succeeds, then a number fails.
struct allocation_plan {
    bool armed = false;
    long before = 0;
    long failures = 0;
    long failed = 0;
    bool fails_now() noexcept {
        if (!armed || before-- > 0 || failures <= 0)
            return false;
        --failures;
        ++failed;
        return true;
    }
};
thread_local constinit allocation_plan plan;

void *take(std::size_t size, std::size_t alignment) noexcept {
    if (plan.fails_now())
        return nullptr;
    return alignment <= alignof(std::max_align_t)
               ? std::malloc(size)
               : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}
void *take_or_throw(std::size_t size, std::size_t alignment) {
    if (void *at = take(size, alignment))
        return at;
    throw std::bad_alloc();
}
// Not inlined: the compiler would see free() of memory from operator new, and warn.
[[gnu::noinline]] void give(void *at) noexcept { std::free(at); }

} // namespace

void *operator new(std::size_t size) { return take_or_throw(size, 1); }
void *operator new[](std::size_t size) { return take_or_throw(size, 1); }
void *operator new(std::size_t size, const std::nothrow_t &) noexcept { return take(size, 1); }
void *operator new[](std::size_t size, const std::nothrow_t &) noexcept { return take(size, 1); }
void *operator new(std::size_t size, std::align_val_t a) {
    return take_or_throw(size, static_cast<std::size_t>(a));
}
void *operator new(std::size_t size, std::align_val_t a, const std::nothrow_t &) noexcept {
    return take(size, static_cast<std::size_t>(a));
}
void operator delete(void *at) noexcept { give(at); }
void operator delete[](void *at) noexcept { give(at); }
void operator delete(void *at, std::size_t) noexcept { give(at); }
void operator delete[](void *at, std::size_t) noexcept { give(at); }
void operator delete(void *at, std::align_val_t) noexcept { give(at); }
void operator delete(void *at, std::size_t, std::align_val_t) noexcept { give(at); }

namespace {

using namespace fult;
using namespace fult::comm;
using namespace fult::comm::testing;

// The network itself has memory.
class with_memory final : public fult::comm::detail::transport {
    using event = fult::comm::detail::event;
    using memory = fult::comm::detail::memory;
    using outcome = fult::comm::detail::outcome;
    using packet = fult::comm::detail::packet;
    using transfer = fult::comm::detail::transfer;
    struct pause {
        bool was = std::exchange(plan.armed, false);
        ~pause() { plan.armed = was; }
    };

  public:
    explicit with_memory(std::unique_ptr<transport> real) : real_(std::move(real)) {}
    const char *name() const noexcept override { return real_->name(); }
    fult::comm::detail::transport_limits limits() const noexcept override { return real_->limits(); }
    std::string address() const override { return real_->address(); }
    void connect(std::span<const std::string> all) override { real_->connect(all); }
    outcome inject(int rank, const void *bytes, std::size_t size) noexcept override {
        const pause p;
        return real_->inject(rank, bytes, size);
    }
    outcome send(packet &what) noexcept override {
        const pause p;
        return real_->send(what);
    }
    outcome post(packet &what) noexcept override {
        const pause p;
        return real_->post(what);
    }
    outcome read(transfer &t) noexcept override {
        const pause p;
        return real_->read(t);
    }
    outcome write(transfer &t) noexcept override {
        const pause p;
        return real_->write(t);
    }
    unsigned poll(std::span<event> events) noexcept override {
        const pause p;
        return real_->poll(events);
    }
    void forget(int rank) noexcept override { real_->forget(rank); }
    bool register_memory(memory &m, fult::comm::detail::access_rights allowed) noexcept override {
        const pause p;
        return real_->register_memory(m, allowed);
    }
    void deregister_memory(memory &m) noexcept override { real_->deregister_memory(m); }

  private:
    std::unique_ptr<transport> real_;
};

// Two ranks of one worker, of which the test makes the progress: nothing else polls while it computes.
class pair {
  public:
    explicit pair(bool one_sided, std::size_t packets = 16) {
        settings_.wrap = [](auto real) { return std::make_unique<with_memory>(std::move(real)); };
        settings_.network.one_sided = one_sided;
        settings_.options.packets = packets;
        hub_ = fult::comm::detail::make_loopback_hub(2, settings_.network);
        const auto at = std::make_shared<meeting>(2);
        for (int i = 0; i < 2; ++i)
            jobs_[static_cast<std::size_t>(i)] = open_rank(settings_, {hub_}, at, i);
    }
    ~pair() {
        handle<void> other = spawn([&] { jobs_[1].reset(); });
        jobs_[0].reset();
        other.join();
    }
    fult::comm::detail::job &rank(std::size_t i) { return *jobs_[i]; }
    // Both continue until nothing changes. Rank 1's allocations fail as planned.
    void exchange() {
        for (int calm = 0; calm < 4; ++calm) {
            if (jobs_[0]->progress())
                calm = 0;
            plan.armed = true;
            const bool any = jobs_[1]->progress();
            plan.armed = false;
            if (any)
                calm = 0;
        }
    }

  private:
    world_settings settings_;
    std::shared_ptr<fult::comm::detail::loopback_hub> hub_;
    std::array<std::unique_ptr<fult::comm::detail::job>, 2> jobs_;
};

fult::options one_worker() {
    fult::options o = as_many_workers_as_asked_for();
    o.workers = 1;
    return o;
}

// Runs the body repeatedly: the first failing allocation is each one in turn, and one, three or many of them
// fail; finally none. The body repeats what failed.
template <class Body> void at_each_allocation(bool one_sided, const Body &body, std::size_t packets = 16) {
    const runtime running(one_worker());
    for (const long failures : {1L, 3L, 40L})
        for (long before = 0;; ++before) {
            plan = {false, before, failures, 0};
            {
                pair both(one_sided, packets);
                body(both);
            }
            const long failed = std::exchange(plan.failed, 0);
            plan = {};
            if (failed == 0)
                break;
            ASSERT_LT(before, 1000);
        }
}

constexpr std::size_t longer = 20'000; // than a packet

struct scarce : ::testing::TestWithParam<bool> {};

TEST_P(scarce, messages_that_wait_for_receives) {
    at_each_allocation(GetParam(), [](pair &both) {
        std::vector<request> sent;
        const auto large = bytes_of(7, longer);
        for (std::uint32_t i = 0; i < 20; ++i)
            sent.push_back(both.rank(0).world.isend(&i, sizeof i, 1, 1));
        sent.push_back(both.rank(0).world.isend(large, 1, 1));
        sent.push_back(both.rank(0).world.isend(large, 1, 2));
        both.exchange();
        std::vector<std::byte> in(longer);
        for (std::uint32_t i = 0; i < 20; ++i) {
            std::uint32_t got = 0;
            request r = both.rank(1).world.irecv(&got, sizeof got, 0, 1);
            both.exchange();
            while (!r.test())
                both.exchange();
            EXPECT_EQ(got, i);
        }
        for (const std::uint32_t tag : {1U, 2U}) {
            request r = both.rank(1).world.irecv(in, 0, tag);
            for (;;) {
                both.exchange();
                try {
                    if (r.test())
                        break;
                } catch (const error &e) { // no memory for the name of the receive: both sides get the error
                    EXPECT_EQ(e.code(), errc::retry);
                    in = large;
                    break;
                }
            }
            EXPECT_EQ(in, large);
            in.assign(longer, {});
        }
        for (request &each : sent)
            try {
                while (!each.test())
                    both.exchange();
            } catch (const error &e) {
                EXPECT_EQ(e.code(), errc::retry);
            }
    });
}

TEST_P(scarce, messages_of_a_queue_and_of_tasks) {
    for (const delivery how : {delivery::queued, delivery::task})
        at_each_allocation(GetParam(), [&](pair &both) {
            std::vector<std::size_t> sizes;
            const auto came = [&](const status &envelope, std::span<const std::byte> bytes) {
                EXPECT_TRUE(are_bytes_of(envelope.tag, bytes));
                sizes.push_back(bytes.size());
            };
            endpoint_options options{.delivery = how};
            if (how == delivery::task)
                options.handler = came;
            endpoint from = both.rank(0).make_endpoint({.delivery = delivery::queued});
            std::vector<std::vector<std::byte>> out;
            std::vector<request> sent;
            std::vector<std::size_t> expected;
            const auto send = [&](std::size_t size) {
                const auto tag = static_cast<std::uint32_t>(out.size());
                out.push_back(bytes_of(tag, size));
                expected.push_back(size);
                sent.push_back(from.isend(out.back(), 1, tag));
            };
            out.reserve(20);
            send(10); // before the endpoint is there
            send(longer);
            send(11);
            both.exchange();
            endpoint to = both.rank(1).make_endpoint(options);
            send(12);
            send(longer);
            send(13);
            unsigned lost = 0; // for which there was no memory: their senders know
            const auto over = [&] {
                bool all = true;
                for (request &each : sent)
                    try {
                        all = (!each.valid() || each.test()) && all;
                    } catch (const error &e) {
                        EXPECT_EQ(e.code(), errc::retry);
                        ++lost;
                    }
                return all;
            };
            for (int rounds = 0; !over() || sizes.size() + lost != expected.size(); ++rounds) {
                ASSERT_LT(rounds, 1000);
                both.exchange();
                if (how == delivery::queued)
                    while (const auto next = to.dequeue())
                        came(next->envelope, {next->bytes.get(), next->envelope.size});
                else
                    this_task::yield();
            }
            if (lost == 0 && how == delivery::queued) {
                EXPECT_EQ(sizes, expected);
            }
        });
}

TEST_P(scarce, accesses_and_their_signals) {
    at_each_allocation(GetParam(), [](pair &both) {
        std::vector<std::byte> memory(longer);
        region own(both.rank(1).world, memory);
        const remote_region there = own.remote();
        const auto large = bytes_of(3, longer);
        std::vector<std::byte> back(longer), small(100);
        std::vector<request> all;
        all.push_back(iput_signal(both.rank(0).world, large, there, 0, 5));
        both.exchange();
        all.push_back(iget(both.rank(0).world, back, there, 0));
        all.push_back(iget(both.rank(0).world, small, there, 0));
        all.push_back(iput_signal(both.rank(0).world, std::span(large).first(8), there, 0, 6));
        for (request &each : all)
            while (!each.test())
                both.exchange();
        EXPECT_EQ(memory, large);
        EXPECT_EQ(back, large);
        for (const std::uint32_t tag : {5U, 6U}) {
            request r = both.rank(1).world.irecv(nullptr, 0, 0, tag);
            while (!r.test())
                both.exchange();
        }
        EXPECT_FALSE(both.rank(1).world.try_probe(0, 5));
        EXPECT_FALSE(both.rank(1).world.try_probe(0, 6));
    });
}

// The first packet that a rank sends is one of a slab that it has no memory for.
// Messages for an endpoint that is made again after its first attempt: those that were here before that, and
// those that have come since.
TEST_P(scarce, endpoints_that_are_made_again) {
    at_each_allocation(GetParam(), [](pair &both) {
        const auto large = bytes_of(7, longer);
        std::array<std::uint32_t, 8> numbers{0, 1, 2, 3, 4, 5, 6, 7};
        std::vector<request> sent;
        std::size_t count = 0;
        endpoint from = both.rank(0).make_endpoint({}), at;
        const auto send_some = [&] {
            if (count < numbers.size()) {
                sent.push_back(from.isend(&numbers[count++], sizeof(std::uint32_t), 1, 1));
                sent.push_back(from.isend(large, 1, 2));
            }
            both.exchange();
        };
        do {
            send_some();
            plan.armed = true;
            try {
                at = both.rank(1).make_endpoint({});
            } catch (const std::bad_alloc &) {
            }
            plan.armed = false;
        } while (at.rank() < 0);
        plan.failures = 0; // what a receive lacks is another test
        send_some();
        std::vector<std::byte> in(longer);
        for (std::size_t i = 0; i < count; ++i) {
            std::uint32_t number = 99;
            request one = at.irecv(&number, sizeof number, 0, 1), other = at.irecv(in, 0, 2);
            both.exchange();
            ASSERT_TRUE(one.test() && other.test()) << "message " << i << " of " << count << " is lost";
            EXPECT_EQ(number, i);
            EXPECT_EQ(in, large);
        }
        for (request &each : sent)
            ASSERT_TRUE(!each.valid() || each.test());
    });
}

TEST_P(scarce, packets_to_answer_in) {
    at_each_allocation(
        GetParam(),
        [](pair &both) {
            const auto out = bytes_of(7, longer);
            std::vector<std::byte> in(longer);
            request r = both.rank(1).world.irecv(in, 0, 1);
            request s = both.rank(0).world.isend(out, 1, 1);
            const auto over = [](request &each) { return !each.valid() || each.test(); };
            for (int rounds = 0; !over(r) || !over(s); ++rounds) {
                ASSERT_LT(rounds, 1000);
                both.exchange();
            }
            EXPECT_EQ(in, out);
        },
        1024);
}

// A completion queue records the end of each operation that has begun, even if there is no memory then.
TEST_P(scarce, ends_of_operations_for_a_queue) {
    at_each_allocation(GetParam(), [](pair &both) {
        constexpr std::uint32_t messages = 40;
        completion_queue ended(both.rank(1).world);
        std::array<std::uint32_t, messages> in{};
        for (std::uint32_t i = 0; i < messages; ++i)
            both.rank(1).world.irecv(&in[i], sizeof in[i], 0, i, ended, i);
        std::vector<request> sent;
        for (std::uint32_t i = 0; i < messages; ++i)
            sent.push_back(both.rank(0).world.isend(&i, sizeof i, 1, i));
        std::uint32_t taken = 0;
        for (int rounds = 0; taken != messages; ++rounds) {
            ASSERT_LT(rounds, 1000);
            both.exchange();
            if (rounds > 2)
                while (const auto one = ended.try_pop()) {
                    EXPECT_EQ(one->failure, errc::none);
                    EXPECT_EQ(one->user_data, taken);
                    EXPECT_EQ(in[taken], taken);
                    ++taken;
                }
        }
        for (request &each : sent)
            while (!each.test())
                both.exchange();
    });
}

// There an operation does not begin, and can be tried again.
TEST_P(scarce, an_operation_that_its_queue_has_no_memory_for) {
    const runtime running(one_worker());
    for (long before = 0;; ++before) {
        pair both(GetParam());
        completion_queue ended(both.rank(1).world);
        std::array<std::uint32_t, 40> in{};
        plan = {true, before, 1, 0};
        unsigned refused = 0;
        const auto again = [&](auto begin) {
            try {
                begin();
            } catch (const std::bad_alloc &) {
                ++refused;
                begin();
            }
        };
        for (std::uint32_t i = 0; i < in.size(); ++i) {
            again([&] { both.rank(1).world.irecv(&in[i], sizeof in[i], 0, i, ended, i); });
            again([&] { both.rank(1).world.isend(&i, sizeof i, 0, i, ended, i); });
        }
        plan.armed = false;
        EXPECT_EQ(refused, plan.failed);
        for (std::uint32_t i = 0; i < in.size(); ++i) {
            both.rank(0).world.send(i, 1, i);
            request r = both.rank(0).world.irecv(&in[i], sizeof in[i], 1, i);
            while (!r.test())
                both.exchange();
        }
        std::size_t taken = 0;
        for (int rounds = 0; rounds < 10; ++rounds) {
            both.exchange();
            while (ended.try_pop())
                ++taken;
        }
        EXPECT_EQ(taken, 2 * in.size());
        if (plan.failed == 0)
            break;
        ASSERT_LT(before, 1000);
    }
}

// Tasks of messages fill the table of tasks; none ends before all that fit have started.
TEST_P(scarce, messages_of_tasks_without_slots) {
    fult::options few = one_worker();
    few.max_tasks = 64;
    const runtime running(few);
    pair both(GetParam());
    constexpr std::uint32_t messages = 200;
    event may_end;
    std::uint32_t begun = 0, ended = 0;
    endpoint from = both.rank(0).make_endpoint({.delivery = delivery::queued});
    endpoint_options options{.delivery = delivery::task};
    options.handler = [&](const status &, std::span<const std::byte>) {
        ++begun;
        may_end.wait();
        ++ended;
    };
    endpoint to = both.rank(1).make_endpoint(options);
    const auto large = bytes_of(7, longer);
    std::vector<request> sent;
    for (std::uint32_t i = 0; i < messages; ++i)
        sent.push_back(i % 10 == 0 ? from.isend(large, 1, i) : from.isend(&i, sizeof i, 1, i));
    for (std::uint32_t before = messages; std::exchange(before, begun) != begun;) {
        both.exchange();
        this_task::yield();
    }
    EXPECT_LT(begun, 64U);
    EXPECT_EQ(ended, 0U);
    may_end.set();
    for (int rounds = 0; ended != messages; ++rounds) {
        ASSERT_LT(rounds, 10'000);
        both.exchange();
        this_task::yield();
    }
    for (request &each : sent)
        while (!each.test())
            both.exchange();
}

INSTANTIATE_TEST_SUITE_P(with, scarce, ::testing::Bool(),
                         [](const auto &p) { return std::string(p.param ? "transfers" : "parts"); });

} // namespace

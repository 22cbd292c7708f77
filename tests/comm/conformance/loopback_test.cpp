// The conformance cases between ranks of this process, over reliable and unreliable networks.
#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "tests/comm/conformance/ranks.hpp"

namespace {

using namespace fult::comm::testing;
using fult::comm::progress_policy;
using namespace fult::comm::detail;

struct configuration {
    const char *name;
    void (*set)(world_settings &);
    bool always = false; // also where each step costs much more
};

constexpr configuration all_configurations[] = {
    {"two", [](world_settings &) {}, true},
    {"four", [](world_settings &s) { s.ranks = 4; }},
    {"refusing", // every third call of the transport is refused
     [](world_settings &s) {
         s.ranks = 3;
         s.network.refuse_every = 3;
     }},
    {"shallow", // a queue of two messages
     [](world_settings &s) {
         s.ranks = 3;
         s.network.depth = 2;
     }},
    {"second_device", // each rank has two, and the second one carries what is tested
     [](world_settings &s) {
         s.ranks = 3;
         s.options.devices = 2;
     }},
    {"second_device_dedicated",
     [](world_settings &s) {
         s.options.devices = 2;
         s.options.progress = progress_policy::dedicated;
     }},
    {"registered", // as over InfiniBand: each side's memory must be
     [](world_settings &s) {
         s.ranks = 3;
         s.network.local_keys = true;
         s.network.inject = 64;
     }},
    {"registered_parts",
     [](world_settings &s) {
         s.network.local_keys = true;
         s.network.one_sided = false;
         s.network.inject = 0;
         s.options.packets = 100; // several slabs
     },
     true},
    {"parts", // nothing can be read from another rank
     [](world_settings &s) { s.network.one_sided = false; }},
    {"parts_refusing",
     [](world_settings &s) {
         s.ranks = fult::testing::sanitized ? 3 : 4;
         s.network.one_sided = false;
         s.network.refuse_every = 2;
         s.network.depth = 3;
     },
     true},
    {"eight_packets",
     [](world_settings &s) {
         s.ranks = 4;
         s.options.packets = 8;
         s.network.inject = 0;
     }},
    {"eight_packets_in_parts",
     [](world_settings &s) {
         s.ranks = 3;
         s.options.packets = 8;
         s.network.depth = 4;
         s.network.one_sided = false;
     }},
    {"small_packets",
     [](world_settings &s) {
         s.ranks = 3;
         s.options.packet_size = 256;
     }},
    {"injected", // packets that are injected, as libfabric's shm does
     [](world_settings &s) {
         s.ranks = 3;
         s.network.inject = 4096;
     }},
    {"without_gathering",
     [](world_settings &s) {
         s.ranks = 3;
         s.options.gather = false;
     }},
    {"all_rendezvous",
     [](world_settings &s) {
         s.ranks = 3;
         s.options.rendezvous = 1;
     }},
    {"dedicated",
     [](world_settings &s) {
         s.ranks = 3;
         s.options.progress = progress_policy::dedicated;
     },
     true},
    {"little_unexpected", // senders are slowed nearly always
     [](world_settings &s) {
         s.ranks = 3;
         s.options.unexpected = 1 << 14;
     }},
    {"alone", [](world_settings &s) { s.ranks = 1; }},
};

std::vector<configuration> configurations() {
    std::vector<configuration> some;
    for (const configuration &each : all_configurations)
        if (each.always || !fult::testing::sanitized)
            some.push_back(each);
    return some;
}

// All cases in one job: creating jobs would take most of the time in slow builds.
void all_of_them(party &p) {
    for (const conformance_case &each : conformance_cases()) {
        each.run(p);
        p.barrier();
    }
}

std::vector<conformance_case> cases() {
    if (fult::testing::sanitized)
        return {{"all", all_of_them}};
    return {conformance_cases().begin(), conformance_cases().end()};
}

using parameters = std::tuple<configuration, conformance_case>;
struct loopback : ::testing::TestWithParam<parameters> {};

TEST_P(loopback, conforms) {
    const conformance_case what = std::get<1>(GetParam());
    world_settings settings;
    std::get<0>(GetParam()).set(settings);
    const fult::runtime running(as_many_workers_as_asked_for());
    std::atomic<int> ended{0}; // a case throws where a result is wrong
    run_ranks(settings, [&](party &p, world &) {
        what.run(p);
        ++ended;
    });
    EXPECT_EQ(ended, settings.ranks);
}

// Counts sends.
class counting final : public transport {
  public:
    counting(std::unique_ptr<transport> inner, std::atomic<unsigned> &count)
        : inner_(std::move(inner)), count_(count) {}
    const char *name() const noexcept override { return inner_->name(); }
    transport_limits limits() const noexcept override { return inner_->limits(); }
    std::string address() const override { return inner_->address(); }
    void connect(std::span<const std::string> addresses) override { inner_->connect(addresses); }
    outcome inject(int rank, const void *bytes, std::size_t size) noexcept override {
        return counted(inner_->inject(rank, bytes, size));
    }
    outcome send(packet &p) noexcept override { return counted(inner_->send(p)); }
    outcome post(packet &p) noexcept override { return inner_->post(p); }
    outcome read(transfer &t) noexcept override { return inner_->read(t); }
    outcome write(transfer &t) noexcept override { return inner_->write(t); }
    unsigned poll(std::span<event> events) noexcept override { return inner_->poll(events); }
    void forget(int rank) noexcept override { inner_->forget(rank); }
    bool register_memory(memory &m, access_rights allowed) noexcept override {
        return inner_->register_memory(m, allowed);
    }
    void deregister_memory(memory &m) noexcept override { inner_->deregister_memory(m); }

  private:
    outcome counted(outcome how) noexcept {
        count_ += how == outcome::done ? 1 : 0;
        return how;
    }
    std::unique_ptr<transport> inner_;
    std::atomic<unsigned> &count_;
};

// A task that waits for a message must not send the gathered messages while other tasks are ready: each would
// be sent alone.
TEST(a_single_rank, is_shown_how_to_start_several) {
    const fult::runtime running(as_many_workers_as_asked_for());
    run_ranks({.ranks = 1}, [](party &p, world &) {
        try {
            p.world.send(1, 1, 1);
            ADD_FAILURE() << "there is no rank 1";
        } catch (const std::out_of_range &error) {
            EXPECT_NE(std::string(error.what()).find("fult-run -n 2"), std::string::npos) << error.what();
        }
    });
}

TEST(request_wait, messages_of_ready_tasks_travel_together) {
    constexpr unsigned tasks = 64, rounds = 20, messages = 2 * tasks * rounds;
    std::atomic<unsigned> sent{0};
    world_settings settings;
    settings.wrap = [&](std::unique_ptr<transport> inner) {
        return std::make_unique<counting>(std::move(inner), sent);
    };
    fult::options one = as_many_workers_as_asked_for();
    one.workers = 1;
    const fult::runtime running(one);
    run_ranks(settings, [&](party &p, world &) {
        std::vector<fult::handle<void>> pairs;
        for (std::uint32_t tag = 0; tag < tasks; ++tag)
            pairs.push_back(fult::spawn([&p, tag] {
                for (unsigned i = 0; i < rounds; ++i) {
                    unsigned word = i;
                    if (p.rank == 0)
                        p.world.send(word, 1, tag);
                    p.world.recv(word, 1 - p.rank, tag);
                    require_equal(word, i, "the word");
                    if (p.rank == 1)
                        p.world.send(word, 0, tag);
                }
            }));
        fult::join_all(pairs);
    });
    EXPECT_LT(sent, messages / 4);
}

INSTANTIATE_TEST_SUITE_P(networks, loopback,
                         ::testing::Combine(::testing::ValuesIn(configurations()),
                                            ::testing::ValuesIn(cases())),
                         [](const ::testing::TestParamInfo<parameters> &info) {
                             return std::string(std::get<0>(info.param).name) + "_" +
                                    std::get<1>(info.param).name;
                         });

// Programs may use both namespaces as a whole: the argument selects the wait_all.
TEST(names, wait_all_of_requests_and_of_handles) {
    using namespace fult;
    using namespace fult::comm;
    const runtime running(as_many_workers_as_asked_for());
    run_ranks({}, [](party &p, world &) {
        int in = 0, out = 5;
        std::vector<request> requests;
        requests.push_back(p.world.irecv(&in, sizeof in, p.previous(), 1));
        requests.push_back(p.world.isend(&out, sizeof out, p.next(), 1));
        wait_all(requests);
        require_equal(in, 5, "received");
        wait_all(std::span(requests));
        std::vector<handle<int>> handles;
        for (int i = 0; i < 3; ++i)
            handles.push_back(spawn([i] { return i; }));
        wait_all(handles);
        wait_all(handles[0], handles[1]);
        wait_all(std::span(handles));
        join_all(handles);
    });
}

} // namespace

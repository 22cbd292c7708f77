// What a rank has sent before its end arrives: whether its process ends, or its context while another rank is
// late.
#include <atomic>
#include <deque>
#include <gtest/gtest.h>
#include <memory>
#include <utility>
#include <vector>

#include "tests/comm/conformance/ranks.hpp"

namespace {

using namespace fult;
using namespace fult::comm;
using namespace fult::comm::testing;

constexpr int last_messages = 100; // each in a packet of its own: more than one poll returns

world_settings without_gathering() {
    world_settings settings;
    settings.options.gather = false;
    return settings;
}

// All of it comes before the failure, though it was still on its way when the end of the process was seen.
TEST(last_messages_of, a_process) {
    const runtime running(as_many_workers_as_asked_for());
    std::atomic<bool> ended{false}, over{false};
    run_ranks(without_gathering(), [&](party &p, world &all) {
        comm::detail::device &other = *all.jobs[0]->first_device;
        if (p.rank == 1) {
            other.engine().inspect([&] { // meanwhile it is not polled
                for (int i = 0; i < last_messages; ++i)
                    p.world.send(i, 0, 1);
            });
            cut_off(*all.hub, 1);
            other.end_peer(1);
            ended = true;
            while (!over)
                this_task::yield();
            return;
        }
        while (!ended)
            this_task::yield();
        for (int i = 0; i < last_messages; ++i)
            EXPECT_EQ(p.world.recv<int>(1, 1), i);
        try {
            p.world.recv<int>(1, 1);
            ADD_FAILURE() << "nothing else was sent";
        } catch (const error &how) {
            EXPECT_EQ(how.code(), errc::peer_failed);
        }
        EXPECT_TRUE(other.is_lost(1));
        over = true;
    });
}

// A network that accepts any number of packets and transmits them later. What it has not transmitted is lost
// when it is closed.
class with_a_queue final : public comm::detail::transport {
    using event = comm::detail::event;
    using outcome = comm::detail::outcome;
    using packet = comm::detail::packet;
    using transfer = comm::detail::transfer;

  public:
    explicit with_a_queue(std::unique_ptr<transport> real) : real_(std::move(real)) {}

    const char *name() const noexcept override { return real_->name(); }
    comm::detail::transport_limits limits() const noexcept override {
        comm::detail::transport_limits all = real_->limits();
        all.delivers_after_close = false;
        return all;
    }
    std::string address() const override { return real_->address(); }
    void connect(std::span<const std::string> all) override { real_->connect(all); }
    outcome inject(int rank, const void *bytes, std::size_t size) noexcept override {
        const auto *const first = static_cast<const std::byte *>(bytes);
        queue_.emplace_back(rank, std::vector<std::byte>(first, first + size));
        return outcome::done;
    }
    outcome send(packet &p) noexcept override {
        sent_.push_back({comm::detail::event_kind::sent, &p});
        return inject(p.rank, p.data(), p.size);
    }
    outcome post(packet &p) noexcept override { return real_->post(p); }
    outcome read(transfer &t) noexcept override { return real_->read(t); }
    outcome write(transfer &t) noexcept override { return real_->write(t); }
    unsigned poll(std::span<event> events) noexcept override {
        while (!queue_.empty() && real_->inject(queue_.front().first, queue_.front().second.data(),
                                                queue_.front().second.size()) != outcome::again)
            queue_.pop_front();
        unsigned count = 0;
        for (; count < events.size() && !sent_.empty(); sent_.pop_front())
            events[count++] = sent_.front();
        return count + real_->poll(events.subspan(count));
    }
    void forget(int rank) noexcept override { real_->forget(rank); }
    bool register_memory(comm::detail::memory &m, comm::detail::access_rights allowed) noexcept override {
        return real_->register_memory(m, allowed);
    }
    void deregister_memory(comm::detail::memory &m) noexcept override { real_->deregister_memory(m); }

  private:
    std::unique_ptr<transport> real_;
    std::deque<std::pair<int, std::vector<std::byte>>> queue_;
    std::deque<event> sent_;
};

// A launcher that stops waiting for rank 0 once: rank 1 ends its context without it.
class gives_up_once final : public comm::detail::bootstrap {
  public:
    gives_up_once(std::shared_ptr<meeting> at, int rank, std::atomic<bool> &gave_up)
        : bootstrap(rank, 2), at_(std::move(at)), gave_up_(gave_up) {}
    const char *name() const noexcept override { return "test"; }
    std::vector<std::string> exchange(std::string_view) override { return {}; }
    void barrier() override {
        if (std::exchange(is_first_, false)) {
            if (rank() == 0)
                return;
            gave_up_ = true;
            throw comm::detail::late_rank("fult: rank 0 did not come");
        }
        at_->wait();
    }
    void abort(int, std::string_view) noexcept override { std::abort(); }

  private:
    std::shared_ptr<meeting> at_;
    std::atomic<bool> &gave_up_;
    bool is_first_ = true;
};

// Rank 0 is made when rank 1 has stopped waiting for it.
TEST(last_messages_of, a_context_that_others_are_late_for) {
    const runtime running(as_many_workers_as_asked_for());
    world_settings settings = without_gathering();
    settings.network.depth = 1;
    const auto hub = comm::detail::make_loopback_hub(2, settings.network);
    const auto at = std::make_shared<meeting>(2);
    std::atomic<bool> gave_up{false};
    const auto open = [&](int rank) {
        std::vector<comm::detail::device_links> links(1);
        links[0].transports.push_back(std::make_unique<with_a_queue>(comm::detail::open_loopback(hub, rank)));
        links[0].routes = rank == 0 ? std::vector{-1, 0} : std::vector{0, -1};
        return std::make_unique<comm::detail::job>(
            settings.options, std::make_unique<gives_up_once>(at, rank, gave_up), std::move(links));
    };
    auto sender = spawn([&] {
        const auto own = open(1);
        for (int i = 0; i < last_messages; ++i)
            own->world.send(i, 0, 1);
    });
    while (!gave_up)
        this_task::yield();
    auto late = open(0);
    for (int i = 0; i < last_messages; ++i)
        EXPECT_EQ(late->world.recv<int>(1, 1), i);
    late.reset();
    sender.join();
}

} // namespace

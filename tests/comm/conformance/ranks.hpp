// Several ranks in one process, each as a task: over loopback, which can be as unreliable as a network.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <fult/comm.hpp>

#include "comm/bootstrap/bootstrap.hpp"
#include "comm/job/job.hpp"
#include "comm/transport/loopback.hpp"
#include "tests/comm/conformance/party.hpp"
#include "tests/support/support.hpp"

namespace fult::comm::testing {

// A meeting of the ranks of a process. Foreign threads block here: job calls barrier on a thread
// of its own.
class meeting {
  public:
    explicit meeting(int size) : size_(size) {}
    void wait() {
        std::unique_lock guard(lock_);
        const unsigned round = round_;
        if (++come_ == size_) {
            come_ = 0;
            ++round_;
            all_come_.notify_all();
        }
        all_come_.wait(guard, [&] { return round_ != round; });
    }

  private:
    const int size_;
    int come_ = 0;
    unsigned round_ = 0;
    std::mutex lock_;
    std::condition_variable all_come_;
};

class meeting_bootstrap final : public detail::bootstrap {
  public:
    meeting_bootstrap(std::shared_ptr<meeting> at, int rank, int size)
        : bootstrap(rank, size), at_(std::move(at)) {}
    const char *name() const noexcept override { return "test"; }
    std::vector<std::string> exchange(std::string_view) override { return {}; } // transports are connected
    void barrier() override { at_->wait(); }
    void abort(int, std::string_view) noexcept override { std::abort(); }

  private:
    std::shared_ptr<meeting> at_;
};

struct world_settings {
    int ranks = 2;
    detail::loopback_settings network{};
    comm::options options{};
    std::uint64_t secret = 0; // of the job
    // If set: wraps a rank's transport.
    std::function<std::unique_ptr<detail::transport>(std::unique_ptr<detail::transport>)> wrap{};
};

// Shared by the ranks.
struct world {
    std::shared_ptr<detail::loopback_hub> hub; // of the first device
    std::vector<detail::job *> jobs;           // by rank, while they are there
};

inline std::unique_ptr<detail::job> open_rank(const world_settings &settings,
                                              const std::vector<std::shared_ptr<detail::loopback_hub>> &hubs,
                                              std::shared_ptr<meeting> at, int rank) {
    std::vector<detail::device_links> links(hubs.size());
    for (std::size_t i = 0; i < hubs.size(); ++i) {
        links[i].transports.push_back(detail::open_loopback(hubs[i], rank));
        if (settings.wrap)
            links[i].transports.back() = settings.wrap(std::move(links[i].transports.back()));
        links[i].secret = settings.secret;
        links[i].routes.assign(static_cast<std::size_t>(settings.ranks), 0);
        links[i].routes[static_cast<std::size_t>(rank)] = -1;
    }
    return std::make_unique<detail::job>(
        settings.options, std::make_unique<meeting_bootstrap>(std::move(at), rank, settings.ranks),
        std::move(links));
}

// Runs the body as one task per rank, in the running runtime. An exception of a body ends the process, since
// the other ranks might wait for it forever.
inline void run_ranks(const world_settings &settings, const std::function<void(party &, world &)> &body) {
    world all;
    std::vector<std::shared_ptr<detail::loopback_hub>> hubs(settings.options.devices);
    for (auto &each : hubs)
        each = detail::make_loopback_hub(settings.ranks, settings.network);
    all.hub = hubs.front();
    all.jobs.resize(static_cast<std::size_t>(settings.ranks));
    const auto at = std::make_shared<meeting>(settings.ranks);
    std::vector<std::unique_ptr<detail::job>> jobs(all.jobs.size());
    std::vector<handle<void>> tasks;
    for (int rank = 0; rank < settings.ranks; ++rank) {
        jobs[static_cast<std::size_t>(rank)] = open_rank(settings, hubs, at, rank);
        all.jobs[static_cast<std::size_t>(rank)] = jobs[static_cast<std::size_t>(rank)].get();
    }
    for (int rank = 0; rank < settings.ranks; ++rank)
        tasks.push_back(spawn([&, rank] {
            auto &own = jobs[static_cast<std::size_t>(rank)];
            try {
                // What is tested is tested on the last device.
                const unsigned last = settings.options.devices - 1;
                endpoint other = last == 0 ? endpoint() : own->make_endpoint({.device = last});
                party p{rank, settings.ranks, last == 0 ? own->world : other,
                        [&](endpoint_options how) {
                            how.device = last;
                            return own->make_endpoint(std::move(how));
                        },
                        [&] { own->barrier(); }};
                body(p, all);
                other = endpoint();
                own.reset();
            } catch (const std::exception &e) {
                std::fprintf(stderr, "rank %d of %d: %s\n", rank, settings.ranks, e.what());
                std::fflush(nullptr);
                std::_Exit(1);
            }
        }));
    join_all(tasks);
}

// FULT_WORKERS workers, or one per processor; not bound, since tests run concurrently.
inline fult::options as_many_workers_as_asked_for() {
    fult::options o = fult::read_options();
    o.bind = fult::bind_mode::off;
    return o;
}

} // namespace fult::comm::testing

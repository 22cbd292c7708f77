// What an act uses on a rank: the rank, its endpoints, its part of the random numbers, and actors, which are
// tasks or kernel threads.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fult/comm.hpp>
#include <fult/sync/sleep.hpp>

#include "tests/comm/random/content.hpp"
#include "tests/comm/random/program.hpp"
#include "tests/comm/random/watch.hpp"

namespace fult::comm::testing {

// A rank of a context: of a process, or of several in one.
struct member {
    int rank;
    int size;
    endpoint &world;
    std::function<endpoint(endpoint_options)> make_endpoint;
    std::function<void()> barrier;
    std::function<bool(int)> has_failed;
    std::function<bool()> progress;
    watch &guard;
    std::uint64_t program_seed;
    bool threads;     // whether actors may be threads
    bool own_workers; // no other rank's tasks run on them
};

// Rank of a call that any rank may end, in `attempt`.
inline constexpr int any_rank = -2;

class actor_group;

struct scene {
    member &me;
    const context_plan &with;
    std::uint64_t seed;      // of the act, on all ranks
    std::string name;        // for reports
    std::uint32_t first_tag; // of 256 that are the act's on any endpoint
    int victim = -1;         // the rank that fails meanwhile
    std::vector<endpoint> own{};
    actor_group *all = nullptr;
    void (*after)(scene &) = nullptr; // of its kind
    std::shared_ptr<void> state{};    // what the act keeps on this rank

    // Unlike those of other acts, and anywhere among the tags.
    std::uint32_t tag(std::uint32_t i) const noexcept { return (first_tag + i) * 0x9e3779b1U; }
    // Numbers that are the same on all ranks, for a part of the act.
    dice shared(std::uint64_t part) const noexcept { return dice(seed_of(seed, part)); }
    // Numbers of this rank alone.
    dice alone(std::uint64_t part) const noexcept { return dice(seed_of(seed, part, me.rank, 77)); }

    [[noreturn]] void fail(const std::string &what) const {
        me.guard.fail("rank " + std::to_string(me.rank) + " of " + std::to_string(me.size) + ", " + name +
                      ": " + what);
    }
    void expect(bool holds, const std::string &what) const {
        if (!holds)
            fail(what);
    }
    // Whether an operation with that rank may end with peer_failed.
    bool may_be_lost(int barrier_partner) const noexcept {
        return victim >= 0 && (barrier_partner == victim || barrier_partner == any_rank);
    }
    void expect_loss(const error &e, int barrier_partner, const char *call) const {
        if (e.code() != errc::peer_failed || !may_be_lost(barrier_partner))
            fail(std::string(call) + " with rank " + std::to_string(barrier_partner) +
                 " failed: " + e.what());
        expect(me.has_failed(victim), "peer_failed, but the rank is not known as failed");
    }
};

// One flow of control of an act.
struct actor {
    scene &in;
    const bool foreign; // a thread of the system
    dice roll;
    activity *shown;

    // Before each call.
    void doing(const char *call);
    // Lets others run.
    void pause();
    // Now and then: yields, sleeps for some microseconds, or computes.
    void dawdle();
    // Makes a call that involves that rank. Returns false if its death has ended the call, which is allowed.
    template <class F> bool attempt(int barrier_partner, const char *call, F f) {
        doing(call);
        try {
            f();
            return true;
        } catch (const error &e) {
            in.expect_loss(e, barrier_partner, call);
            return false;
        }
    }
};

// The actors of a phase on this rank.
class actor_group {
  public:
    actor_group(member &me, std::uint64_t seed) : me_(me), roll_(seed_of(seed, me.rank, 5)) {}
    actor_group(const actor_group &) = delete;
    actor_group &operator=(const actor_group &) = delete;
    ~actor_group() = default;

    // Starts one.
    void add(scene &in, const std::string &what, std::function<void(actor &)> body);
    void join();

  private:
    member &me_;
    dice roll_;
    std::uint64_t count_ = 0;
    std::vector<handle<void>> tasks_;
    std::list<std::thread> threads_;
    std::atomic<int> threads_left_{0};
};

// Sends this process its last signal, SIGKILL or SIGSTOP, after so many steps of its actors, if they are set.
inline std::atomic<std::int64_t> steps_to_live{-1};
inline std::atomic<int> last_signal{0};
void fail_now(); // sends it; once

// Sizes around every border of the protocol, at most `most`.
std::size_t random_size(dice &d, const comm::options &with, std::size_t most);

// Memory for a message, with bytes behind it that must not be written.
class buffer {
  public:
    explicit buffer(std::size_t size) : size_(size), bytes_(size + guard) {
        fill(std::span(bytes_).subspan(size), size);
    }
    std::byte *data() noexcept { return bytes_.data(); }
    std::size_t size() const noexcept { return size_; }
    std::span<std::byte> view() noexcept { return {bytes_.data(), size_}; }
    bool overrun() const noexcept {
        return first_difference(std::span(bytes_).subspan(size_), size_) != guard;
    }

  private:
    static constexpr std::size_t guard = 24;
    std::size_t size_;
    std::vector<std::byte> bytes_;
};

} // namespace fult::comm::testing

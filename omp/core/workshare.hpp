// Work-sharing constructs: loops and sections. Each member of a team meets the same constructs in the same
// order, so a construct is found by its number. A member that runs ahead never waits for another one here.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "icv.hpp"
#include "work_ring.hpp"

namespace fult::omp {

struct team;
struct team_member;

// An iteration space. Iterations are numbered from 0; value = first + number * step, modulo 2^64.
struct iteration_space {
    std::uint64_t first = 0, step = 1, count = 0;
};

struct loop_shape {
    iteration_space space;
    schedule_kind kind = schedule_kind::fixed;
    std::uint64_t chunk = 0; // fixed: 0 is one block a member
    bool ordered = false;
    bool any_order = false;   // dynamic: a member may meet a chunk after a later one (nonmonotonic)
    std::uint64_t vector = 1; // guided: each chunk but the last is a multiple of it
};

// The chunks of a dynamic loop that one member will take: their numbers, from `next` to `end`. Others take
// from the end when they have none left.
struct alignas(64) chunk_range {
    std::atomic<std::uint64_t> word{0};
    static constexpr std::uint64_t most = std::uint64_t{1} << 31;
    static constexpr std::uint64_t make(std::uint64_t next, std::uint64_t end) noexcept {
        return next | end << 32;
    }
    static constexpr std::uint64_t next_of(std::uint64_t w) noexcept { return w & 0xffffffff; }
    static constexpr std::uint64_t end_of(std::uint64_t w) noexcept { return w >> 32; }
};

// The first value of a loop, and the step.
struct doacross_first {
    std::int64_t value, step;
};

// What a member posts and awaits in a doacross loop: per chunk of the outermost loop, the position after the
// last iteration that was posted, in the order of all collapsed loops.
struct doacross_state {
    unsigned dimensions = 0;
    std::uint64_t chunk = 1;
    std::unique_ptr<std::int64_t[]> counts;
    std::unique_ptr<doacross_first[]> first; // for the front end
    std::unique_ptr<std::atomic<std::uint64_t>[]> posted;
    std::unique_ptr<std::atomic<std::uint64_t>[]> bits; // instead: a bit an iteration of all dimensions
};

struct work_share {
    // turn: the construct that may use this share; ready: turn + 1 once it is set up
    std::atomic<std::uint64_t> turn{0}, claimed{0}, ready{0};
    std::atomic<unsigned> left{0}; // members that have left it, and work_ring::marked
    loop_shape shape;
    bool is_divided = false;               // into a range for each member, in place of `next`
    std::unique_ptr<chunk_range[]> ranges; // made for the first loop that is divided
    // The next iteration to be given out. Divided: the number of iterations once the last chunk is.
    alignas(64) std::atomic<std::uint64_t> next{0};
    alignas(64) std::atomic<std::uint64_t> ordered_at{0}; // the iteration that may enter its ordered region
    std::atomic<bool> cancelled{false};
    doacross_state across;
    void *memory = nullptr;     // GOMP_loop_start's `mem`
    void *reductions = nullptr; // those of the first member

    work_share() = default;
    work_share(const work_share &) = delete;
    work_share &operator=(const work_share &) = delete;
    ~work_share() { drop_contents(); }
    // What the construct has had for itself.
    void drop_contents() noexcept {
        if (across.dimensions != 0) [[unlikely]]
            across = {};
        if (memory) [[unlikely]]
            ::operator delete(std::exchange(memory, nullptr));
    }
};

// Gives a share that all have left, and that holds nothing any more, to another construct.
inline void assign(work_share &w, std::uint64_t construct) noexcept {
    w.left.store(0, std::memory_order_relaxed);
    w.claimed.store(construct, std::memory_order_relaxed);
    w.turn.store(construct, std::memory_order_release); // pairs with enter_work, work_ring::find
}

inline work_share &work_ring::place_of(std::uint64_t construct) const noexcept {
    return places_[construct % length];
}

// A member's position in the current construct.
struct work_position {
    std::uint64_t constructs = 0; // entered so far
    std::uint64_t singles = 0;
    work_share *share = nullptr;
    work_share *across = nullptr;    // clang: of the doacross loop, which has a place of its own in the ring
    std::uint64_t trip = 0;          // chunks taken, of a static loop
    std::uint64_t low = 0, high = 0; // the present chunk
    std::uint64_t ordered = 0;       // clang: the iteration whose ordered region comes next
    std::uint64_t ends = 0;          // clang: barriers of constructs that may be cancelled
};

// Enters the next construct; the first member sets it up by `shape`. Returns true for the first one.
bool enter_work(team_member *m, const loop_shape &shape, void (*setup)(work_share &, void *) = nullptr,
                void *with = nullptr);
// The next chunk [low, high) of iteration numbers; false: there is none.
bool next_chunk(team_member *m, std::uint64_t &low, std::uint64_t &high);
// Leaves the construct, without a barrier.
void leave_work(team_member *m);
// The iterations of member `number` of `members` in a static loop of one block a member; empty: low == high.
void static_block(std::uint64_t count, std::uint64_t members, std::uint64_t number, std::uint64_t &low,
                  std::uint64_t &high) noexcept;
bool work_cancelled(const team_member *m) noexcept;

// The ordered region of the present chunk: waits until all earlier chunks have passed it.
void begin_ordered(team_member *m);
void pass_ordered(team_member *m); // at the chunk's end
// For interfaces that announce each iteration.
void await_ordered_iteration(team_member *m, std::uint64_t number);
void pass_ordered_iteration(team_member *m, std::uint64_t number);

// doacross. Vectors of iteration numbers.
void setup_doacross(work_share &w, unsigned dimensions, const std::int64_t *counts);
// The same for an interface without the chunks of the loop.
void enter_doacross(team_member *m, unsigned dimensions, const std::int64_t *counts,
                    const doacross_first *first);
void leave_doacross(team_member *m);
void post_doacross(team_member *m, const std::int64_t *numbers);
void await_doacross(team_member *m, const std::int64_t *numbers);

// True for the member that executes the next `single`.
bool take_single(team_member *m);

} // namespace fult::omp

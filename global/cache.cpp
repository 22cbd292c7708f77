#include <algorithm>
#include <bit>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <fult/detail/assertion.hpp>
#include <fult/detail/misuse.hpp>
#include <fult/global/cache.hpp>

#include "global/cache_shard.hpp"
#include "global/state.hpp"

namespace fult::global {

not_cached::~not_cached() = default;

namespace detail {

struct cache_state {
    explicit cache_state(unsigned shards) : shards(shards) {}
    std::vector<cache_shard> shards; // a power of two
    cache_shard &shard_of(place where, std::uint64_t bytes) noexcept {
        return shards[static_cast<std::size_t>(cache_shard::hash_of(where, bytes) >> 50) &
                      (shards.size() - 1)];
    }
    bool keeps = true;
    // After all lines were unlinked: those that are pinned.
    std::uint64_t pinned() noexcept {
        std::uint64_t sum = 0;
        for (cache_shard &each : shards) {
            const std::lock_guard guard(each.lock);
            sum += each.count_alive();
        }
        return sum;
    }
};

const std::byte *bytes_of(const cache_line *line) noexcept { return line->data(); }

void release(cache_line *line) noexcept {
    cache_shard &shard = *line->shard;
    cache_line *dropped = nullptr;
    shard.lock.lock();
    shard.unpin(*line, dropped);
    shard.lock.unlock();
    if (dropped) [[unlikely]]
        cache_line::destroy_all(dropped);
}

namespace {

unsigned shards_for(const cache_options &settings) {
    if (settings.shards == 0)
        return settings.policy != cache_policy::lru
                   ? 16
                   : static_cast<unsigned>(
                         std::bit_floor(std::clamp<std::size_t>(settings.bytes >> 20, 1, 16)));
    if (!std::has_single_bit(settings.shards) || settings.shards > 1024)
        throw std::invalid_argument("fult-global: cache: " + std::to_string(settings.shards) +
                                    " shards; their number is a power of two up to 1,024");
    return settings.shards;
}

// The line is pinned by the caller, which waits for the transfer of another task.
void await_transfer(cache_line &line) {
    fult::detail::waiter self;
    cache_shard &shard = *line.shard;
    shard.lock.lock();
    if (line.now == cache_line::state::fetching)
        fult::detail::wait_in({}, shard.lock, line.waiters, self, fult::detail::wait_limits()); // unlocks
    else
        shard.lock.unlock();
    // Its state and bytes do not change any more.
    if (line.now == cache_line::state::ready)
        return;
    const std::exception_ptr error = line.error;
    release(&line);
    std::rethrow_exception(error);
}

// By the task that has made the line. All that wait for it are woken, also if it fails.
void transfer(memory &in, cache_line &line) {
    std::exception_ptr error;
    try {
        in.read("get", line.where, line.data(), line.bytes);
    } catch (...) {
        error = std::current_exception();
    }
    cache_shard &shard = *line.shard;
    fult::detail::wait_chain waiting;
    cache_line *dropped = nullptr;
    shard.lock.lock();
    line.now = error ? cache_line::state::failed : cache_line::state::ready;
    line.error = error;
    if (error && line.linked)
        shard.unlink(line, dropped);
    else if (!error)
        shard.counted.fetched += line.bytes;
    const bool full = shard.is_full();
    waiting.add_all(line.waiters);
    shard.lock.unlock();
    FULT_ASSERT(!dropped, "its maker has pinned it");
    waiting.grant();
    if (full) [[unlikely]]
        shard.grow();
    if (error) {
        release(&line);
        std::rethrow_exception(error);
    }
}

// The line is made before the lock is taken; another task may have linked one meanwhile: both must not fetch.
cache_line *miss(memory &in, cache_state &state, place where, std::uint64_t bytes) {
    (void)in.state().region_of("get", where, bytes);
    cache_shard &shard = state.shard_of(where, bytes);
    cache_line *const made = cache_line::make(shard, where, bytes);
    cache_line *dropped = nullptr;
    shard.lock.lock();
    cache_line *const other = state.keeps ? shard.find(where, bytes) : nullptr;
    const bool ready = other && other->now == cache_line::state::ready;
    if (other) {
        shard.pin(*other);
        ++(ready ? shard.counted.hits : shard.counted.joined);
    } else {
        ++shard.counted.misses;
        if (state.keeps)
            shard.link(*made, dropped);
        else
            shard.adopt();
    }
    shard.lock.unlock();
    cache_line::destroy_all(dropped);
    if (!other) {
        transfer(in, *made);
        return made;
    }
    cache_line::destroy(made);
    if (!ready)
        await_transfer(*other);
    return other;
}

} // namespace
} // namespace detail

using namespace detail;

cache::cache(memory &in, const cache_options &settings)
    : in_(in), rank_(in.rank()), state_(std::make_unique<cache_state>(shards_for(settings))) {
    state_->keeps = settings.policy != cache_policy::none;
    for (cache_shard &each : state_->shards)
        if (settings.policy == cache_policy::lru) {
            each.ordered = true;
            each.bound = settings.bytes / state_->shards.size();
        }
}

cache::~cache() {
    invalidate();
    if (state_->pinned() != 0)
        fult::detail::misuse("global::cache",
                             "destroyed while handles refer to its lines; destroy them before");
}

std::size_t cache::footprint(std::size_t bytes) noexcept { return sizeof(cache_line) + bytes; }

cache_line *cache::get_line(place where, std::uint64_t bytes) {
    cache_shard &shard = state_->shard_of(where, bytes);
    shard.lock.lock();
    if (cache_line *const line = shard.find(where, bytes)) [[likely]] {
        shard.pin(*line);
        const bool ready = line->now == cache_line::state::ready;
        ++(ready ? shard.counted.hits : shard.counted.joined);
        shard.lock.unlock();
        if (!ready)
            await_transfer(*line);
        return line;
    }
    shard.lock.unlock();
    return miss(in_, *state_, where, bytes);
}

cache_line *cache::fetch_line(place where, std::uint64_t bytes) {
    (void)in_.state().region_of("fetch", where, bytes);
    cache_shard &shard = state_->shard_of(where, bytes);
    cache_line *const made = cache_line::make(shard, where, bytes);
    cache_line *dropped = nullptr;
    shard.lock.lock();
    ++shard.counted.misses;
    if (!state_->keeps) {
        shard.adopt();
    } else {
        if (cache_line *const before = shard.find(where, bytes))
            shard.unlink(*before, dropped);
        shard.link(*made, dropped);
    }
    shard.lock.unlock();
    cache_line::destroy_all(dropped);
    transfer(in_, *made);
    return made;
}

cache_line *cache::cached_line(place where, std::uint64_t bytes) {
    cache_shard &shard = state_->shard_of(where, bytes);
    shard.lock.lock();
    cache_line *const line = shard.find(where, bytes);
    const bool ready = line && line->now == cache_line::state::ready;
    if (ready) {
        shard.pin(*line);
        ++shard.counted.hits;
    }
    shard.lock.unlock();
    if (!ready)
        throw not_cached("fult-global: get_cached: " + to_string(where) + ", " + std::to_string(bytes) +
                         " bytes, is not cached; get it before");
    return line;
}

void cache::drop_line(place where, std::uint64_t bytes) noexcept {
    cache_shard &shard = state_->shard_of(where, bytes);
    cache_line *dropped = nullptr;
    shard.lock.lock();
    if (cache_line *const line = shard.find(where, bytes))
        shard.unlink(*line, dropped);
    shard.lock.unlock();
    cache_line::destroy_all(dropped);
}

void cache::invalidate() noexcept {
    constexpr std::size_t at_once = 64; // buckets: the lock is held for a moment
    for (cache_shard &shard : state_->shards) {
        bool more = true;
        for (std::size_t first = 0; more; first += at_once) {
            cache_line *dropped = nullptr;
            shard.lock.lock();
            more = shard.unlink_buckets(first, at_once, dropped);
            shard.lock.unlock();
            cache_line::destroy_all(dropped);
        }
    }
}

// All puts of the phase are complete when their ranks arrive. What is cached is of no use to what comes
// after; a rank that is late here still reads nothing.
void cache::end_phase() {
    in_.barrier();
    invalidate();
}

cache_counters cache::counters() const {
    cache_counters sum;
    for (cache_shard &shard : state_->shards) {
        const std::lock_guard guard(shard.lock);
        sum.hits += shard.counted.hits;
        sum.misses += shard.counted.misses;
        sum.joined += shard.counted.joined;
        sum.evictions += shard.counted.evictions;
        sum.fetched += shard.counted.fetched;
        sum.lines += shard.lines();
        sum.bytes += shard.bytes();
    }
    return sum;
}

void cache::print_counters(std::FILE *to) const {
    const cache_counters all = counters();
    const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
    std::fprintf(to,
                 "fult-global: cache of rank %d: %llu hits, %llu misses, %llu joined, %llu evictions, "
                 "%llu bytes fetched, %llu lines of %llu bytes\n",
                 rank_, number(all.hits), number(all.misses), number(all.joined), number(all.evictions),
                 number(all.fetched), number(all.lines), number(all.bytes));
}

} // namespace fult::global

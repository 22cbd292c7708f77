#include "global/cache_shard.hpp"

#include <mutex>
#include <new>
#include <utility>

#include <fult/global/cache.hpp>

namespace fult::global::detail {

cache_line *cache_line::make(cache_shard &of, place where, std::uint64_t bytes) {
    void *const memory = ::operator new(cache::footprint(bytes), std::align_val_t(alignof(cache_line)));
    auto *const line = new (memory) cache_line;
    line->where = where;
    line->bytes = bytes;
    line->shard = &of;
    line->pins = 1;
    return line;
}

void cache_line::destroy(cache_line *line) noexcept {
    FULT_ASSERT(line->waiters.empty() && !line->linked, "no task waits for a line that is dropped");
    line->~cache_line();
    ::operator delete(line, std::align_val_t(alignof(cache_line)));
}

void cache_line::destroy_all(cache_line *list) noexcept {
    while (list)
        destroy(std::exchange(list, list->next));
}

void cache_shard::link(cache_line &line, cache_line *&dropped) noexcept {
    FULT_ASSERT(!line.linked && line.pins != 0 && !find(line.where, line.bytes),
                "a line is in the table once");
    cache_line *&first = buckets_[bucket_of(line.where, line.bytes)];
    line.next = first;
    first = &line;
    line.linked = true;
    ++lines_;
    ++alive_;
    bytes_ += cache::footprint(line.bytes);
    if (ordered)
        evict(dropped);
}

void cache_shard::unlink(cache_line &line, cache_line *&dropped) noexcept {
    FULT_ASSERT(line.linked && lock.is_held(), "it is in the table");
    cache_line **at = &buckets_[bucket_of(line.where, line.bytes)];
    while (*at != &line)
        at = &(*at)->next;
    *at = line.next;
    line.linked = false;
    --lines_;
    bytes_ -= cache::footprint(line.bytes);
    if (line.pins != 0)
        return;
    if (ordered)
        remove_from_order(line);
    drop(line, dropped);
}

bool cache_shard::unlink_buckets(std::size_t first, std::size_t count, cache_line *&dropped) noexcept {
    for (std::size_t i = first; i < first + count && i < buckets_.size(); ++i)
        while (cache_line *line = buckets_[i])
            unlink(*line, dropped);
    return first < buckets_.size();
}

// Pinned lines are not in the order: they stay, and are looked at again when they are released.
void cache_shard::evict(cache_line *&dropped) noexcept {
    while (bytes_ > bound && oldest_) {
        ++counted.evictions;
        unlink(*oldest_, dropped);
    }
}

void cache_shard::add_to_order(cache_line &line) noexcept {
    line.newer = nullptr;
    line.older = newest_;
    (newest_ ? newest_->newer : oldest_) = &line;
    newest_ = &line;
}

void cache_shard::remove_from_order(cache_line &line) noexcept {
    (line.newer ? line.newer->older : newest_) = line.older;
    (line.older ? line.older->newer : oldest_) = line.newer;
}

void cache_shard::grow() noexcept {
    std::size_t wanted = 0;
    {
        const std::lock_guard guard(lock);
        wanted = is_full() ? 2 * buckets_.size() : 0;
    }
    if (wanted == 0)
        return;
    std::vector<cache_line *> larger;
    try {
        larger.resize(wanted);
    } catch (const std::bad_alloc &) {
        return;
    }
    const std::lock_guard guard(lock);
    if (buckets_.size() >= wanted)
        return;
    larger.swap(buckets_);
    for (cache_line *first : larger)
        while (cache_line *line = first) {
            first = line->next;
            cache_line *&bucket = buckets_[bucket_of(line->where, line->bytes)];
            line->next = bucket;
            bucket = line;
        }
}

} // namespace fult::global::detail

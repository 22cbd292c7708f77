#include "comm/packets/packet_pool.hpp"

#include <algorithm>
#include <bit>
#include <mutex>
#include <new>
#include <span>
#include <stdexcept>
#include <string>

#include <fult/detail/assertion.hpp>

namespace fult::comm::detail {

namespace {
constexpr std::size_t cache_line = 64, page = 4096;
constexpr std::size_t part_room = 128; // packets in a worker's part; the surplus goes to the common part
constexpr std::size_t batch = 32;      // maximum number moved between parts at a time
static_assert(batch < part_room, "a part has room for what it takes");
static_assert(sizeof(packet) % cache_line == 0, "the bytes of a packet begin at a line");

} // namespace

// A bounded double-ended queue of packets, in a ring.
class alignas(cache_line) packet_pool::part {
  public:
    void reserve(std::size_t room) {
        room_ = room;
        mask_ = std::bit_ceil(room) - 1;
        ring_ = std::make_unique<packet *[]>(mask_ + 1);
    }
    // A hint unless the caller holds the lock, and so relaxed.
    std::size_t count() const noexcept { return count_.load(std::memory_order_relaxed); }
    std::size_t room() const noexcept { return room_; }

    // Pushes at the hot end; returns false if full.
    bool push(packet &p) noexcept {
        const std::lock_guard guard(lock_);
        const std::size_t n = count();
        if (n == room_)
            return false;
        FULT_ASSERT(n < room_ && room_ <= mask_ + 1);
        ring_[(cold_ + n) & mask_] = &p;
        count_.store(n + 1, std::memory_order_relaxed);
        return true;
    }
    packet *pop_hot() noexcept {
        if (count() == 0)
            return nullptr;
        const std::lock_guard guard(lock_);
        const std::size_t n = count();
        if (n == 0)
            return nullptr;
        count_.store(n - 1, std::memory_order_relaxed);
        return ring_[(cold_ + n - 1) & mask_];
    }
    // Pops half of the packets, rounded up, from the cold end, the coldest first. Returns their number.
    std::size_t pop_cold(std::span<packet *> out) noexcept {
        if (count() == 0)
            return 0;
        const std::lock_guard guard(lock_);
        const std::size_t n = count(), taken = std::min(out.size(), (n + 1) / 2);
        for (std::size_t i = 0; i < taken; ++i)
            out[i] = ring_[(cold_ + i) & mask_];
        cold_ = (cold_ + taken) & mask_;
        count_.store(n - taken, std::memory_order_relaxed);
        return taken;
    }
    packet *pop_cold() noexcept {
        packet *one;
        return pop_cold({&one, 1}) == 1 ? one : nullptr;
    }

  private:
    fult::detail::spin_lock lock_;
    std::atomic<std::size_t> count_{0};
    std::size_t cold_ = 0, mask_ = 0, room_ = 0;
    std::unique_ptr<packet *[]> ring_;
};

struct packet_pool::slab {
    std::byte *base;
    std::size_t size;
    void *descriptor[2];
};

packet_pool::packet_pool(packet_pool_options options) : options_(std::move(options)) {
    const packet_pool_options &o = options_;
    if (o.parts == 0 || o.slab == 0 || o.capacity == 0 || o.packets <= o.reserve)
        throw std::invalid_argument("packet_pool: " + std::to_string(o.packets) + " packets of " +
                                    std::to_string(o.capacity) + " bytes, " + std::to_string(o.reserve) +
                                    " of them for receiving, in slabs of " + std::to_string(o.slab) +
                                    " for " + std::to_string(o.parts) +
                                    " parts; none may be 0, and the reserve must be less than all packets");
    stride_ = (sizeof(packet) + o.capacity + cache_line - 1) & ~(cache_line - 1);
    if (stride_ % page == 0)
        stride_ += cache_line; // otherwise all heads would map to the same few cache sets
    maximum_.store(o.packets, std::memory_order_relaxed);
    FULT_ASSERT(stride_ % cache_line == 0 && stride_ >= sizeof(packet) + o.capacity);
    // One for each worker, then the common one, which has space for all, then the reserve.
    parts_ = std::make_unique<part[]>(o.parts + 2);
    common_ = &parts_[o.parts];
    reserve_ = &parts_[o.parts + 1];
    for (unsigned i = 0; i < o.parts; ++i)
        parts_[i].reserve(std::min(o.packets, part_room));
    common_->reserve(o.packets);
    reserve_->reserve(std::max<std::size_t>(o.reserve, 1));
    slabs_.reserve((o.packets + o.slab - 1) / o.slab); // so that make_slab cannot throw
    while (made() == 0 || reserve_->count() < o.reserve) {
        packet *p = common_->pop_cold();
        if (!p)
            p = make_slab();
        if (!p) {
            free_slabs();
            throw std::runtime_error(
                "packet_pool: no memory for " + std::to_string(o.slab) + " packets of " +
                std::to_string(o.capacity) +
                " bytes, or it could not be registered; remedy: fewer or smaller packets, or "
                "a higher limit of locked memory (ulimit -l)");
        }
        (reserve_->count() < o.reserve ? reserve_ : common_)->push(*p);
    }
}

packet_pool::~packet_pool() { free_slabs(); }

void packet_pool::free_slabs() noexcept {
    for (slab &each : slabs_) {
        if (options_.deregister_memory)
            options_.deregister_memory(each.base, each.size, each.descriptor);
        ::operator delete (each.base, std::align_val_t{page});
    }
    slabs_.clear();
}

packet *packet_pool::take(unsigned part) noexcept {
    FULT_ASSERT(part < options_.parts);
    packet *const own = parts_[part].pop_hot();
    return own ? own : refill(part);
}

packet *packet_pool::refill(unsigned own) noexcept {
    packet *found[batch];
    std::size_t n = common_->pop_cold(found);
    for (unsigned i = 1; n == 0 && i < options_.parts; ++i)
        n = parts_[(own + i) % options_.parts].pop_cold(found);
    if (n == 0)
        return make_slab();
    FULT_ASSERT(n <= batch);
    for (std::size_t i = 0; i + 1 < n; ++i)
        if (!parts_[own].push(*found[i]))
            common_->push(*found[i]);
    return found[n - 1];
}

packet *packet_pool::take_cold() noexcept {
    if (packet *const p = common_->pop_cold())
        return p;
    // Relaxed: it only has to vary.
    const unsigned first = next_victim_.load(std::memory_order_relaxed);
    next_victim_.store(first + 1, std::memory_order_relaxed);
    for (unsigned i = 0; i < options_.parts; ++i)
        if (packet *const p = parts_[(first + i) % options_.parts].pop_cold())
            return p;
    return make_slab();
}

packet *packet_pool::take_for_receiving() noexcept {
    packet *const p = take_cold();
    return p ? p : reserve_->pop_hot();
}

void packet_pool::give(unsigned part, packet &p) noexcept {
    FULT_ASSERT(part < options_.parts);
    p.home = part;
    FULT_ASSERT(p.capacity == options_.capacity, "the packet is of this pool");
    if (reserve_->count() < options_.reserve && reserve_->push(p))
        return;
    if (parts_[part].push(p))
        return;
    packet *cold[batch];
    const std::size_t n = parts_[part].pop_cold(cold);
    for (std::size_t i = 0; i < n; ++i)
        common_->push(*cold[i]);
    if (!parts_[part].push(p))
        common_->push(p);
}

// Returns the first packet of a new slab and gives the others to the common part; or a packet of the common
// part that another thread has given by now.
packet *packet_pool::make_slab() noexcept {
    // relaxed: it only grows, or is reduced under the lock; checked again there
    const std::size_t seen = made();
    if (seen >= maximum())
        return nullptr;
    const std::lock_guard guard(making_);
    const std::size_t before = made();
    if (before != seen)
        if (packet *const p = common_->pop_cold())
            return p; // of a slab made meanwhile
    const std::size_t n = std::min(options_.slab, maximum() - before);
    if (n == 0)
        return nullptr;
    slab made_now{nullptr, n * stride_, {}};
    made_now.base =
        static_cast<std::byte *>(::operator new (made_now.size, std::align_val_t{page}, std::nothrow));
    if (!made_now.base) // there may be memory later
        return nullptr;
    if (options_.register_memory &&
        !options_.register_memory(made_now.base, made_now.size, made_now.descriptor)) {
        ::operator delete (made_now.base, std::align_val_t{page});
        maximum_.store(before, std::memory_order_relaxed);
        return nullptr;
    }
    slabs_.push_back(made_now);
    FULT_ASSERT(slabs_.size() <= slabs_.capacity() && before + n <= maximum());
    packet *first = nullptr;
    for (std::size_t i = 0; i < n; ++i) {
        packet *const p = new (made_now.base + i * stride_) packet{};
        p->capacity = static_cast<std::uint32_t>(options_.capacity);
        std::copy_n(made_now.descriptor, 2, p->descriptor);
        if (first)
            common_->push(*p); // under the part's lock: the taker sees the complete packet
        else
            first = p;
    }
    made_.store(before + n, std::memory_order_relaxed);
    return first;
}

std::size_t packet_pool::available() const noexcept {
    std::size_t n = maximum() - made() + common_->count();
    for (unsigned i = 0; i < options_.parts; ++i)
        n += parts_[i].count();
    return n;
}

std::size_t packet_pool::in_reserve() const noexcept { return options_.reserve ? reserve_->count() : 0; }

} // namespace fult::comm::detail

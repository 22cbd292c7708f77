// A set of small integers that finds its lowest and highest member in a few steps. 64-ary: a bit indicates
// that the word below is not empty. Written by one thread; other threads may read it as a hint, so the words
// are relaxed atomics. A leaf is read only where the bit above it is set: leaves without members are neither
// written nor touched, as most are never used.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

#include <fult/detail/assertion.hpp>
#include <fult/detail/platform.hpp>

namespace fult::detail {

template <std::uint32_t Capacity> class bit_tree {
    static_assert(Capacity > 4096 && Capacity <= 64 * 4096);

  public:
    static constexpr int none = -1;

    bit_tree() noexcept { take_over(leaf_); }

    bool contains(std::uint32_t i) const noexcept { return (leaf(i >> 6) >> (i & 63)) & 1; }

    void insert(std::uint32_t i) noexcept {
        FULT_ASSERT(i < Capacity);
        const std::uint64_t before = leaf(i >> 6);
        if ((before & bit(i)) != 0)
            return;
        ++count_;
        put(leaf_[i >> 6], before | bit(i));
        put(middle_[i >> 12], get(middle_[i >> 12]) | bit(i >> 6));
        put(root_, get(root_) | bit(i >> 12));
    }

    void erase(std::uint32_t i) noexcept {
        const std::uint64_t before = leaf(i >> 6);
        if (before == 0)
            return;
        count_ -= (before & bit(i)) != 0 ? 1 : 0;
        put(leaf_[i >> 6], before & ~bit(i));
        if ((before & ~bit(i)) != 0)
            return;
        put(middle_[i >> 12], get(middle_[i >> 12]) & ~bit(i >> 6));
        FULT_ASSERT(at_least(i) != static_cast<int>(i), "an erased member is not found");
        if (get(middle_[i >> 12]) == 0)
            put(root_, get(root_) & ~bit(i >> 12));
    }

    bool empty() const noexcept { return get(root_) == 0; }

    int lowest() const noexcept { return at_least(0); }

    // For the writer: true if i is the only member.
    bool holds_only(std::uint32_t i) const noexcept { return count_ == 1 && contains(i); }

    int highest() const noexcept { return below_roots<&high>(get(root_)); }

    // The lowest member >= i, or none. A reader that races with the owner may get none or a number that has
    // been erased.
    int at_least(std::uint32_t i) const noexcept {
        if (i >= Capacity)
            return none;
        if (const std::uint64_t here = leaf(i >> 6) & (~std::uint64_t{0} << (i & 63)))
            return static_cast<int>((i & ~63u) + low(here));
        const std::uint32_t m = (i >> 6) + 1; // the next leaf
        if ((m & 63) != 0)
            if (const std::uint64_t middles = get(middle_[m >> 6]) & (~std::uint64_t{0} << (m & 63)))
                return below_middles<&low>(m >> 6, middles);
        const std::uint32_t r = (m + 63) >> 6; // the next middle word
        return r < 64 ? below_roots<&low>(get(root_) & (~std::uint64_t{0} << r)) : none;
    }

    // The highest member <= i, or none.
    int at_most(std::uint32_t i) const noexcept {
        FULT_ASSERT(i < Capacity);
        if (const std::uint64_t here = leaf(i >> 6) & up_to(i))
            return static_cast<int>((i & ~63u) + high(here));
        const std::uint32_t m = i >> 6;
        if (const std::uint64_t middles = get(middle_[m >> 6]) & (bit(m) - 1))
            return below_middles<&high>(m >> 6, middles);
        return below_roots<&high>(get(root_) & (bit(m >> 6) - 1));
    }

  private:
    using word = std::atomic<std::uint64_t>;
    static std::uint64_t get(const word &w) noexcept { return w.load(std::memory_order_relaxed); }
    static void put(word &w, std::uint64_t value) noexcept { w.store(value, std::memory_order_relaxed); }
    std::uint64_t leaf(std::uint32_t m) const noexcept {
        return (get(middle_[m >> 6]) & bit(m)) != 0 ? get(leaf_[m]) : 0;
    }
    static std::uint64_t bit(std::uint32_t i) noexcept { return std::uint64_t{1} << (i & 63); }
    static std::uint64_t up_to(std::uint32_t i) noexcept { return ~std::uint64_t{0} >> (63 - (i & 63)); }
    static std::uint32_t low(std::uint64_t w) noexcept {
        return static_cast<std::uint32_t>(std::countr_zero(w));
    }
    static std::uint32_t high(std::uint64_t w) noexcept {
        return static_cast<std::uint32_t>(63 - std::countl_zero(w));
    }

    // The lowest or highest member, by End, in the parts that these bits show.
    template <auto End> int below_roots(std::uint64_t roots) const noexcept {
        return roots != 0 ? below_middles<End>(End(roots), get(middle_[End(roots)])) : none;
    }
    template <auto End> int below_middles(std::uint32_t r, std::uint64_t middles) const noexcept {
        if (middles == 0)
            return none;
        const std::uint32_t m = r * 64 + End(middles);
        const std::uint64_t members = get(leaf_[m]);
        return members != 0 ? static_cast<int>(m * 64 + End(members)) : none;
    }

    std::uint32_t count_ = 0; // of members; the writer's
    word root_{0};
    word middle_[(Capacity + 4095) / 4096]{};
    union { // not initialized
        word leaf_[(Capacity + 63) / 64];
    };
};

} // namespace fult::detail

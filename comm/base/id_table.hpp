// Ids for objects that other ranks may refer to: an index and its number of uses, so that a wrong or outdated
// id finds nothing.
#pragma once

#include <cstdint>
#include <vector>

#include <fult/detail/assertion.hpp>

namespace fult::comm::detail {

// Protected by its owner's lock.
template <class T> class id_table {
  public:
    // Throws std::bad_alloc without effect.
    std::uint64_t add(T &object) {
        if (free_ == none) {
            entries_.push_back({});
            free_ = static_cast<std::uint32_t>(entries_.size() - 1);
        }
        const std::uint32_t index = free_;
        FULT_ASSERT(!entries_[index].object, "a free entry has no object");
        free_ = entries_[index].next_free;
        entries_[index].object = &object;
        ++count_;
        return std::uint64_t{entries_[index].uses} << 32 | index;
    }
    // Returns nullptr for an id that is not, or no longer, in use.
    T *find(std::uint64_t id) const noexcept {
        const std::uint64_t index = id & 0xffff'ffff;
        return index < entries_.size() && entries_[index].uses == id >> 32 ? entries_[index].object : nullptr;
    }
    void remove(std::uint64_t id) noexcept {
        FULT_ASSERT(find(id), "only an id in use is removed");
        entry &e = entries_[id & 0xffff'ffff];
        e.object = nullptr;
        ++e.uses;
        e.next_free = free_;
        free_ = static_cast<std::uint32_t>(id & 0xffff'ffff);
        FULT_ASSERT(count_ != 0);
        --count_;
    }
    // f may remove the element that it is given.
    template <class F> void each(F f) const {
        for (std::uint32_t i = 0; i < entries_.size(); ++i)
            if (entries_[i].object)
                f(std::uint64_t{entries_[i].uses} << 32 | i, *entries_[i].object);
    }
    std::size_t count() const noexcept { return count_; }

  private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    struct entry {
        T *object = nullptr;
        std::uint32_t uses = 1; // no id is 0
        std::uint32_t next_free = none;
    };
    // An entry is in use, with an object, or in the free list, without. The free list is empty or begins at
    // free_.
    std::vector<entry> entries_;
    std::uint32_t free_ = none; // first of the free list
    std::size_t count_ = 0;
};

} // namespace fult::comm::detail

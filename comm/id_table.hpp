// Names for objects that other ranks may mention: an index and how often it was used before, so that a wrong
// or old name finds nothing.
#pragma once

#include <cstdint>
#include <vector>

namespace fult::comm::detail {

// Under its owner's lock.
template <class T> class id_table {
  public:
    std::uint64_t add(T &object) {
        if (free_.empty()) {
            places_.push_back({});
            free_.push_back(static_cast<std::uint32_t>(places_.size() - 1));
        }
        const std::uint32_t index = free_.back();
        free_.pop_back();
        places_[index].what = &object;
        return std::uint64_t{places_[index].uses} << 32 | index;
    }
    // Null for a name that is not, or no longer, in use.
    T *find(std::uint64_t id) const noexcept {
        const std::uint64_t index = id & 0xffff'ffff;
        return index < places_.size() && places_[index].uses == id >> 32 ? places_[index].what : nullptr;
    }
    void remove(std::uint64_t id) noexcept {
        place &at = places_[id & 0xffff'ffff];
        at.what = nullptr;
        ++at.uses;
        free_.push_back(static_cast<std::uint32_t>(id & 0xffff'ffff)); // has room: it was there before
    }
    template <class F> void each(F f) const {
        for (std::uint32_t i = 0; i < places_.size(); ++i)
            if (places_[i].what)
                f(std::uint64_t{places_[i].uses} << 32 | i, *places_[i].what);
    }
    std::size_t count() const noexcept { return places_.size() - free_.size(); }

  private:
    struct place {
        T *what = nullptr;
        std::uint32_t uses = 1; // no name is 0
    };
    std::vector<place> places_;
    std::vector<std::uint32_t> free_;
};

} // namespace fult::comm::detail

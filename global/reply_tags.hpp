// Tags of replies: two operations that are under way never have the same one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include <fult/detail/assertion.hpp>
#include <fult/detail/spin_lock.hpp>

namespace fult::global::detail {

class reply_tags {
  public:
    // Throws std::bad_alloc.
    std::uint32_t take() {
        const std::lock_guard guard(lock_);
        if (free_.empty()) {
            free_.reserve(made_ + 1); // so that give never allocates
            return made_++;
        }
        const std::uint32_t tag = free_.back();
        free_.pop_back();
        return tag;
    }
    void give(std::uint32_t tag) noexcept {
        const std::lock_guard guard(lock_);
        FULT_ASSERT(tag < made_ && free_.size() < made_, "it was taken");
        free_.push_back(tag);
    }
    // None is taken.
    bool all_free() const noexcept {
        const std::lock_guard guard(lock_);
        return free_.size() == made_;
    }

  private:
    mutable fult::detail::spin_lock lock_;
    std::vector<std::uint32_t> free_;
    std::uint32_t made_ = 0;
};

// One tag, for as long as the object lives.
class reply_tag {
  public:
    explicit reply_tag(reply_tags &of) : of_(of), tag_(of.take()) {}
    reply_tag(const reply_tag &) = delete;
    reply_tag &operator=(const reply_tag &) = delete;
    ~reply_tag() { of_.give(tag_); }
    operator std::uint32_t() const noexcept { return tag_; }

  private:
    reply_tags &of_;
    const std::uint32_t tag_;
};

} // namespace fult::global::detail

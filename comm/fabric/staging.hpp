// Buffers that reads over a network go through. What is given up is then written into these, and not into the
// user's memory: providers do not end single reads, and those of release 1.17 are damaged when an endpoint is
// closed whose reads are under way (tcp;ofi_rxm crashes, net gives one record to two operations).
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace fult::comm::detail {

struct staging_buffer {
    std::unique_ptr<std::byte[]> bytes;
    staging_buffer *next = nullptr;
};

// All of one size, and kept until the end. Not thread-safe.
class staging_buffers {
  public:
    // nullptr without memory.
    staging_buffer *take(std::size_t size) noexcept {
        if (free_)
            return std::exchange(free_, free_->next);
        try {
            auto made = std::make_unique<staging_buffer>();
            made->bytes.reset(new std::byte[size]);
            all_.push_back(std::move(made));
        } catch (const std::bad_alloc &) {
            return nullptr;
        }
        return all_.back().get();
    }
    void give(staging_buffer &buffer) noexcept {
        buffer.next = free_;
        free_ = &buffer;
    }

  private:
    std::vector<std::unique_ptr<staging_buffer>> all_;
    staging_buffer *free_ = nullptr;
};

} // namespace fult::comm::detail

// Text for reports, cut off where there is no room for more.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>

#include <fult/detail/assertion.hpp>

namespace fult::mpi {

class text_buffer {
  public:
    text_buffer(char *text, std::size_t size) noexcept : text_(text), size_(size) {
        FULT_ASSERT(size != 0);
        text[0] = '\0';
    }
    template <class... Values> void append(const char *format, Values... values) noexcept {
        if (used_ >= size_)
            return;
        const int more = std::snprintf(text_ + used_, size_ - used_, format, values...);
        used_ += static_cast<std::size_t>(std::max(more, 0));
    }
    const char *separator() const noexcept { return used_ == 0 ? "" : ", "; }

  private:
    char *text_;
    std::size_t size_;
    std::size_t used_ = 0;
};

} // namespace fult::mpi

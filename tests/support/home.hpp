// The memory of a home without its worker: for tests of the words and slots alone. Mapped once a process, and
// empty for each test: Memcheck takes seconds to keep books on a new one.
#pragma once

#include <cstdlib>
#include <cstring>

#include <fult/detail/layout.hpp>

#include "fult/memory/virtual_memory.hpp"
#include "fult/tasks/public_words.hpp"

namespace fult::testing {

class bare_home {
  public:
    bare_home() : base_(memory()) {}
    ~bare_home() { detail::discard_pages(base_, detail::home_size); }
    bare_home(const bare_home &) = delete;
    bare_home &operator=(const bare_home &) = delete;

    detail::worker_hot *hot() const { return static_cast<detail::worker_hot *>(base_); }
    detail::task *task_at(std::uint32_t slot) const { return detail::tasks_of(hot()) + slot; }
    detail::public_words words(const detail::public_words::offsets &at) const { return {base_, at}; }

  private:
    static void *memory() {
        using namespace detail;
        static void *const base = reserve_aligned(home_size, home_size);
        static const bool usable = base && make_usable(base, home_size);
        if (!usable)
            std::abort();
        return base;
    }

    void *base_;
};

} // namespace fult::testing

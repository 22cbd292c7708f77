#include "shared_bell.hpp"

#include <cerrno>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace fult::detail {

bool shared_bell::open(int flags) noexcept {
    if (is_open())
        return true;
    const int made = ::eventfd(0, flags);
    int none = -1;
    if (made >= 0 && !descriptor_.compare_exchange_strong(none, made, std::memory_order_acq_rel))
        ::close(made);
    return made >= 0;
}

// It counts itself before it reads the number; close takes the number away before it reads the count.
bool shared_bell::ring(std::uint64_t count) noexcept {
    ringing_.fetch_add(1, std::memory_order_seq_cst);             // pairs with close
    const int open = descriptor_.load(std::memory_order_seq_cst); // pairs with close
    if (open >= 0)
        ::eventfd_write(open, count);                 // it fails only if the count is as high as it can be
    ringing_.fetch_sub(1, std::memory_order_release); // pairs with close
    return open >= 0;
}

void shared_bell::close() noexcept {
    const int open = descriptor_.exchange(-1, std::memory_order_seq_cst); // pairs with ring
    if (open < 0)
        return;
    while (ringing_.load(std::memory_order_seq_cst) != 0) // pairs with ring
        ::sched_yield();
    ::close(open);
}

} // namespace fult::detail

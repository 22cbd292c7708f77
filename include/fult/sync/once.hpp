/// @file
/// A call that is made once.
#pragma once

#include <atomic>
#include <functional>
#include <utility>

#include <fult/detail/waiter.hpp>

namespace fult {

/// Records whether the function of call_once was run. Must outlive every call with it.
class FULT_API once_flag {
  public:
    /// Not run yet.
    constexpr once_flag() noexcept = default;
    once_flag(const once_flag &) = delete;
    once_flag &operator=(const once_flag &) = delete;

  private:
    template <class Function, class... Arguments>
    friend void call_once(once_flag &flag, Function &&function, Arguments &&...arguments);
    enum : int { fresh, running, done };

    bool begin() noexcept;              ///< true if the caller must run the function; false if it was run
    void end(bool successful) noexcept; ///< done, or the next waiter tries

    std::atomic<int> state_{fresh};
    detail::spin_lock lock_;
    detail::wait_list waiters_;
};

/// Calls function(arguments...) unless a call with this flag has returned before. A concurrent caller waits
/// for the call (a task suspends, a foreign thread blocks). If the function throws, its caller gets the
/// exception and the next waiter tries. From any thread.
template <class Function, class... Arguments>
void call_once(once_flag &flag, Function &&function, Arguments &&...arguments) {
    if (flag.state_.load(std::memory_order_acquire) == once_flag::done || !flag.begin()) // pairs with end
        return;
    struct ending {
        once_flag &flag;
        bool successful = false;
        ~ending() { flag.end(successful); }
    } end{flag};
    std::invoke(std::forward<Function>(function), std::forward<Arguments>(arguments)...);
    end.successful = true;
}

} // namespace fult

// Something that is done once.
#pragma once

#include <atomic>
#include <functional>
#include <utility>

#include <fult/sync/waiter.hpp>

namespace fult {

// Whether the function of call_once was run. Must outlive every call with it.
class FULT_API once_flag {
  public:
    // It was not run.
    constexpr once_flag() noexcept = default;
    once_flag(const once_flag &) = delete;
    once_flag &operator=(const once_flag &) = delete;

  private:
    template <class Function, class... Arguments>
    friend void call_once(once_flag &flag, Function &&function, Arguments &&...arguments);
    enum : int { fresh, running, done };

    bool begin() noexcept;              // whether the caller is to run the function; else it was run
    void end(bool successful) noexcept; // done, or the next one in line tries

    std::atomic<int> state_{fresh};
    detail::short_lock lock_;
    detail::wait_list waiters_;
};

// Calls function(arguments...) unless a call with this flag has returned before; a caller that comes
// meanwhile waits for it (a task suspends, a foreign thread blocks). Where the function throws, its caller
// gets the exception and the next in line tries. From any thread.
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

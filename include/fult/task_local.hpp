// Storage of which each task has its own.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include <fult/detail/locals.hpp>

namespace fult {

// A pointer of which each task has its own, null at first. What is not a task, a foreign thread, has its own
// as well. It moves with the task, whatever worker runs it; reading it costs a few loads. A value that is not
// null when its task (or thread) ends is given to the destructor, as the last thing that the task does.
//
// At most 1,024 of these at a time. Whoever destroys one must know that no task has a value that its
// destructor should see.
template <class T> class task_local_ptr {
  public:
    // destructor: called with what is left at a task's end, on that task, and may suspend; not with null.
    // copy: what a task that is spawned with inherit_locals gets; without it such a task gets the same
    // pointer if there is no destructor, else null. Throws std::system_error where there are too many. From
    // any thread.
    explicit task_local_ptr(void (*destructor)(T *) = nullptr, T *(*copy)(const T *) = nullptr)
        : key_(detail::make_key(reinterpret_cast<detail::end_function>(destructor),
                                reinterpret_cast<detail::copy_function>(copy))) {}
    // Values that tasks still have are dropped.
    ~task_local_ptr() { detail::delete_key(key_); }
    task_local_ptr(const task_local_ptr &) = delete;
    task_local_ptr &operator=(const task_local_ptr &) = delete;

    // The caller's. From any thread; does not suspend.
    T *get() const noexcept { return static_cast<T *>(detail::get_local(key_)); }
    // Sets the caller's; what was there before is not destroyed. From any thread; does not suspend. Throws
    // std::bad_alloc, at a task's first values only.
    void set(T *value) const { detail::set_local(key_, value); }
    // For spawn_options::locals. The task owns the value once spawn has returned.
    local_value with(T *value) const noexcept { return {key_, value}; }

  private:
    const detail::local_key key_;
};

} // namespace fult

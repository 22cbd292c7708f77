// Storage of which each task has its own.
#pragma once

#include <concepts>
#include <functional>
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
    local_value with(T *value) const noexcept { return {key_, const_cast<std::remove_cv_t<T> *>(value)}; }

  private:
    const detail::local_key key_;
};

// For task_local's and task_local_ptr's `copy`: inherited values are copies by T's constructor.
template <class T> T *copy_of(const T *value) { return new T(*value); }

// A value of which each task has its own, as has each foreign thread: made when it is first asked for, and
// destroyed when its task (or thread) ends, as the last thing that the task does. What task_local_ptr says of
// numbers and lifetimes holds here, too.
template <class T> class task_local {
    static_assert(std::is_object_v<T> && !std::is_const_v<T>, "task_local<T>: T is a type of plain objects");

  public:
    // Values are T(). Throws as task_local_ptr's constructor. From any thread.
    task_local() requires std::default_initializable<T> : task_local([] { return T(); }) {}
    // Values are what `initial` returns, on the task that asks. It may suspend, may be called by several
    // threads at the same time, and must not ask for the value itself. copy: what a task that is spawned with
    // inherit_locals begins with, where its spawner has a value (copy_of); without it such a task begins
    // without one.
    explicit task_local(std::function<T()> initial, T *(*copy)(const T *) = nullptr)
        : value_([](T *value) { delete value; }, copy), initial_(std::move(initial)) {}

    // The caller's. From any thread; suspends only if `initial` does. Throws std::bad_alloc, and what
    // `initial` throws: then there is no value yet.
    T &get() const {
        if (T *value = value_.get()) [[likely]]
            return *value;
        std::unique_ptr<T> made(new T(initial_()));
        value_.set(made.get());
        return *made.release();
    }
    // As get.
    T &operator*() const { return get(); }
    // As get.
    T *operator->() const { return &get(); }
    // Whether the caller's has been made. From any thread; does not suspend.
    bool has_value() const noexcept { return value_.get() != nullptr; }

  private:
    const task_local_ptr<T> value_;
    const std::function<T()> initial_;
};

} // namespace fult

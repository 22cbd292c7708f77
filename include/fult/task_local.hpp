/// @file
/// Task-local storage.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include <fult/detail/locals.hpp>

namespace fult {

/// A task-local pointer, initially null. Each foreign thread has one as well. It moves with the task between
/// workers; reading it costs a few loads. If it is not null when its task (or thread) ends, the destructor is
/// called with it, as the last action of the task. Destructors of thread_local objects may use those of a
/// foreign thread; destructors of static objects, too, but what these set is not ended.
///
/// At most 1,024 of these exist at a time. When one is destroyed, no task may have a value that needs the
/// destructor.
template <class T> class task_local_ptr {
  public:
    /// destructor: called with a value that is not null at the end of a task, on that task; may suspend.
    /// copy: creates the value of a task spawned with inherit_locals; without it, such a task gets the same
    /// pointer if there is no destructor, else null. Throws std::system_error if there are too many. From any
    /// thread.
    explicit task_local_ptr(void (*destructor)(T *) = nullptr, T *(*copy)(const T *) = nullptr)
        : key_(detail::make_key({reinterpret_cast<detail::any_function>(destructor),
                                 reinterpret_cast<detail::any_function>(copy), &end_value, &copy_value})) {}
    /// Remaining values are dropped.
    ~task_local_ptr() { detail::delete_key(key_); }
    task_local_ptr(const task_local_ptr &) = delete;
    task_local_ptr &operator=(const task_local_ptr &) = delete;

    /// The caller's value. From any thread; does not suspend.
    T *get() const noexcept { return static_cast<T *>(detail::get_local(key_)); }
    /// Sets the caller's value; the previous one is not destroyed. From any thread; does not suspend. Throws
    /// std::bad_alloc, only for the first values of a task.
    void set(T *value) const { detail::set_local(key_, value); }
    /// For spawn_options::locals. The task owns the value when spawn has returned.
    local_value make_value(T *value) const noexcept {
        return {key_, const_cast<std::remove_cv_t<T> *>(value)};
    }

  private:
    static void end_value(detail::any_function destructor, void *value) {
        reinterpret_cast<void (*)(T *)>(destructor)(static_cast<T *>(value));
    }
    static void *copy_value(detail::any_function copy, const void *value) {
        return const_cast<std::remove_cv_t<T> *>(
            reinterpret_cast<T *(*)(const T *)>(copy)(static_cast<const T *>(value)));
    }

    const detail::local_key key_;
};

/// For the `copy` parameter of task_local and task_local_ptr: copies inherited values by T's constructor.
template <class T> T *copy_value(const T *value) { return new T(*value); }

/// A task-local value; each foreign thread has one as well. It is created on first use and destroyed when its
/// task (or thread) ends, as the last action of the task. Limits and lifetimes are those of task_local_ptr.
template <class T> class task_local {
    static_assert(std::is_object_v<T> && !std::is_const_v<T>,
                  "task_local<T>: T must be a non-const object type");

  public:
    /// Values are initialized by T(). Throws as task_local_ptr's constructor. From any thread.
    task_local() requires std::default_initializable<T> : task_local([] { return T(); }) {}
    /// Values are initialized by `initial`, called on the task that uses the value first. It may suspend, may
    /// be called on several threads at a time, and must not use the value itself. copy: creates the value of
    /// a task spawned with inherit_locals, if its spawner has one (copy_value); without it, such a task
    /// begins without a value.
    explicit task_local(std::function<T()> initial, T *(*copy)(const T *) = nullptr)
        : value_([](T *value) { delete value; }, copy), initial_(std::move(initial)) {}

    /// The caller's value. From any thread; suspends only if `initial` does. Throws std::bad_alloc, and what
    /// `initial` throws: there is no value then.
    T &get() const {
        if (T *value = value_.get()) [[likely]]
            return *value;
        std::unique_ptr<T> made(new T(initial_()));
        value_.set(made.get());
        return *made.release();
    }
    /// As get.
    T &operator*() const { return get(); }
    /// As get.
    T *operator->() const { return &get(); }
    /// True if the caller's value has been created. From any thread; does not suspend.
    bool has_value() const noexcept { return value_.get() != nullptr; }

  private:
    const task_local_ptr<T> value_;
    const std::function<T()> initial_;
};

} // namespace fult

/// @file
/// Global variables: an object of one rank that all ranks read. Source: section 2.3 of PPL ("gvar").
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include <fult/detail/exceptions.hpp>
#include <fult/global/memory.hpp>

namespace fult::global {

/// An object in the heap of one rank, its owner; the others only read it. Made and destroyed by all ranks of
/// the memory, which outlives it, in the same order as other collective calls.
template <class T> class global_variable {
  public:
    /// The owner's `value` is that of the object; the others' is ignored. Throws heap_exhausted on all ranks.
    /// May suspend.
    global_variable(memory &in, int owner, const T &value) : in_(&in) {
        detail::check_element<T>();
        if (owner < 0 || owner >= in.size())
            throw std::out_of_range("fult-global: global_variable: there is no rank " +
                                    std::to_string(owner));
        where_ = global_ptr<T>(owner, in.allocate_symmetric(sizeof(T), alignof(T)));
        if (in.rank() == owner)
            in.put(where_, value);
        in.barrier();
    }
    global_variable(const global_variable &) = delete;
    global_variable &operator=(const global_variable &) = delete;
    /// The other may only be destroyed afterwards.
    global_variable(global_variable &&other) noexcept
        : in_(std::exchange(other.in_, nullptr)), where_(other.where_) {}
    /// Waits for all ranks, then frees the object. May suspend.
    ~global_variable() {
        if (!in_)
            return;
        FULT_TRY { in_->barrier(); }
        FULT_CATCH_ALL {} // a rank that has ended accesses nothing
        in_->deallocate_symmetric(where_.offset());
    }

    int owner() const noexcept { return where_.rank(); } ///< the rank that may change it
    /// Points to it, for reading.
    global_ptr<const T> pointer() const noexcept { return where_; }
    /// Reads it. May suspend.
    T get() const { return in_->get(where_); }
    /// Changes it. Throws std::logic_error on other ranks than the owner. Does not suspend.
    void set(const T &value) const { *local() = value; }
    /// Its address, on the owner. Throws std::logic_error on other ranks. Does not suspend.
    T *local() const {
        if (in_->rank() != owner())
            throw std::logic_error("fult-global: global_variable: rank " + std::to_string(owner()) +
                                   " owns the variable, and rank " + std::to_string(in_->rank()) +
                                   " only reads it; use a global_ptr for objects that all ranks write");
        return in_->local(where_);
    }

  private:
    memory *in_;
    global_ptr<T> where_;
};

} // namespace fult::global

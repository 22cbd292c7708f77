// The dependences among the children of one task. A node is a child as its dependences see it: how many
// predecessors it waits for, and which successors wait for it. The table has, for each address, the nodes of
// the last writers and of the readers since.
//
// Only the parent's thread uses the table, as only it generates the children. Addresses whose tasks have all
// ended are forgotten when the table is full, so its size follows the tasks that wait, not those that were
// generated.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include <fult/detail/assertion.hpp>
#include <fult/detail/spin_lock.hpp>

#include "depend.hpp"
#include "omp_task.hpp"

namespace fult::omp {

// It outlives its task while the table refers to it.
struct dependence_node {
    omp_task *of = nullptr;        // null: a wait for dependences
    child_counter *wait = nullptr; // of a wait: this counter ends instead of a task that starts
    std::atomic<int> waits_for{1};
    std::atomic<int> references{1};
    std::atomic<bool> done{false}; // changes under the lock
    detail::spin_lock lock;
    std::uint32_t successors = 0; // under the lock, and so are these:
    static constexpr std::uint32_t few = 6;
    dependence_node *first[few];
    std::vector<dependence_node *> others;
    attachments more; // those of the task, if it had none before

    dependence_node() noexcept {} // NOLINT: `first` is filled as successors come
    // The task has ended, and all that waited for it know: no thread uses it any more.
    bool has_ended() const noexcept {
        return is_done() && successors == 0 && waits_for.load(std::memory_order_relaxed) == 0;
    }
    bool is_done() const noexcept { return done.load(std::memory_order_acquire); } // pairs with end
    // This one waits for `before`, unless that has ended.
    void follow(dependence_node &before) {
        if (&before != this && !before.is_done()) [[unlikely]]
            follow_living(before);
    }
    // All successors have one predecessor less. `at` is the calling thread.
    void end(thread_state *at) noexcept;
    void predecessor_ended(thread_state *at) noexcept;
    // One of those that it waits for is over, the end of its own generation included. True: it was the last.
    bool count_one() noexcept {
        const int before = waits_for.fetch_sub(1, std::memory_order_acq_rel);
        FULT_ASSERT(before > 0, "each predecessor ends once");
        return before == 1;
    }

  private:
    void follow_living(dependence_node &before);
};

inline dependence_node *make_node(thread_state *at) { return ::new (at->blocks.take(0)) dependence_node; }

// Gives one reference back, on the thread of `at`.
FULT_ALWAYS_INLINE void drop_node(dependence_node *n, thread_state *at) noexcept {
    FULT_ASSERT(is_here(at));
    FULT_ASSERT(n->references.load(std::memory_order_relaxed) > 0, "one of them is the caller's");
    if (n->references.load(std::memory_order_acquire) != 1 &&
        n->references.fetch_sub(1, std::memory_order_acq_rel) != 1)
        return;
    FULT_ASSERT(n->has_ended(), "a task has a reference to its node until it ends");
    n->~dependence_node();
    at->blocks.give(0, n);
}

// Nodes, with a reference to each. Few have more than one.
class node_list {
  public:
    bool is_empty() const noexcept { return count_ == 0; }
    // Takes over a reference that the caller has counted.
    void add(dependence_node *n, thread_state *at) {
        if (count_ == capacity_) [[unlikely]]
            make_room(at);
        FULT_ASSERT(count_ < capacity_);
        nodes()[count_++] = n;
    }
    void clear(thread_state *at) noexcept {
        for (dependence_node *n : *this)
            drop_node(n, at);
        count_ = 0;
    }
    void forget_ended(thread_state *at) noexcept;
    dependence_node *const *begin() const noexcept { return nodes(); }
    dependence_node *const *end() const noexcept { return nodes() + count_; }

  private:
    dependence_node **nodes() noexcept { return many_ ? many_.get() : &one_; }
    dependence_node *const *nodes() const noexcept { return many_ ? many_.get() : &one_; }
    void make_room(thread_state *at);

    dependence_node *one_ = nullptr;
    std::unique_ptr<dependence_node *[]> many_; // null: the list is one_
    std::uint32_t count_ = 0, capacity_ = 1;
};

// The tasks of one address: the latest group, whose members may run together, and the group before it.
struct address_entry {
    const void *address = nullptr; // null: the entry is free, its lists are empty, and its kind means nothing
    dependence_kind kind = dependence_kind::out;
    node_list latest, before;
};

class dependence_table {
  public:
    // n waits for its predecessors by this list; if `record`, later ones wait for it. Returns the number of
    // references that the table has taken: the caller counts them.
    int add(dependence_node *n, const dependence *list, std::size_t count, bool record, thread_state *at);
    void clear(thread_state *at) noexcept;

  private:
    static std::size_t hash_of(const void *address) noexcept {
        return static_cast<std::size_t>(
            (reinterpret_cast<std::uintptr_t>(address) >> 3) * 0x9e3779b97f4a7c15 >> 20);
    }
    address_entry *find(const void *address) noexcept; // its entry, or a free one; null: no room is left
    FULT_ALWAYS_INLINE address_entry &entry(const void *address, thread_state *at) {
        FULT_ASSERT(address, "null marks a free entry");
        if (capacity_ != 0)
            if (address_entry &e = entries_[hash_of(address) & (capacity_ - 1)]; e.address == address)
                [[likely]]
                return e;
        return entry_elsewhere(address, at);
    }
    address_entry &entry_elsewhere(const void *address, thread_state *at);
    void make_room(thread_state *at);
    int add_one(dependence_node *n, const dependence &d, bool record, thread_state *at);
    int add_all_memory(dependence_node *n, bool record, thread_state *at);
    template <class F> void each_entry(F f) {
        for (std::size_t i = 0; i < capacity_; ++i)
            if (entries_[i].address)
                f(entries_[i]);
    }

    std::unique_ptr<address_entry[]> entries_; // open addressing
    std::size_t capacity_ = 0, used_ = 0;
    node_list all_; // the last task that depends on all memory
};

} // namespace fult::omp

// The dependences among the children of one task: for each address, the last writers and the readers since.
// Only the parent's thread uses it, as only it generates the children. Addresses whose tasks have all ended
// are forgotten when the table is full, so its size follows the tasks that wait, not those that were
// generated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <fult/detail/assertion.hpp>

#include "depend.hpp"
#include "dependence_node.hpp"

namespace fult::omp {

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

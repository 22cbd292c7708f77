#include "dependence_table.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace fult::omp {

// Nodes ---------------------------------------------------------------------------------------------------------------

void node_list::make_room(thread_state *at) {
    forget_ended(at);
    if (2 * count_ <= capacity_ && count_ != capacity_)
        return;
    const std::uint32_t capacity = 4 * capacity_;
    FULT_ASSERT(capacity > count_ && capacity > capacity_, "32 bits count the tasks of an address");
    auto larger = std::make_unique<dependence_node *[]>(capacity);
    std::copy_n(nodes(), count_, larger.get());
    many_ = std::move(larger);
    capacity_ = capacity;
}

void node_list::forget_ended(thread_state *at) noexcept {
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < count_; ++i)
        if (dependence_node *const n = nodes()[i]; n->is_done())
            drop_node(n, at);
        else
            nodes()[kept++] = n;
    count_ = kept;
}

// Addresses -----------------------------------------------------------------------------------------------------------

address_entry *dependence_table::find(const void *address) noexcept {
    for (std::size_t i = hash_of(address), looks = 0; looks < capacity_; ++i, ++looks)
        if (address_entry &e = entries_[i & (capacity_ - 1)]; !e.address || e.address == address)
            return &e;
    return nullptr;
}

address_entry &dependence_table::entry_elsewhere(const void *address, thread_state *at) {
    address_entry *e = find(address);
    if (e && e->address)
        return *e;
    if (4 * (used_ + 1) > 3 * capacity_) {
        make_room(at);
        e = find(address);
    }
    FULT_ASSERT(e && !e->address, "a quarter of the entries is free");
    e->address = address;
    e->kind = dependence_kind::out; // of what depends on all memory, if that is there
    ++used_;
    FULT_ASSERT(4 * used_ <= 3 * capacity_, "a search ends at a free entry");
    for (dependence_node *n : all_) {
        n->references.fetch_add(1, std::memory_order_relaxed);
        e->latest.add(n, at);
    }
    return *e;
}

// Keeps the entries with tasks that have not ended. A large table with few of them is halved: one that stayed
// as large as it once was would leave the cache for good.
void dependence_table::make_room(thread_state *at) {
    std::size_t live = 0;
    each_entry([&](address_entry &e) {
        e.latest.forget_ended(at);
        e.before.forget_ended(at);
        live += e.latest.is_empty() && e.before.is_empty() ? 0 : 1;
    });
    constexpr std::size_t least = 16, max_in_cache = 256;
    std::size_t capacity = capacity_ > max_in_cache ? capacity_ / 2 : std::max(capacity_, least);
    while (4 * live >= capacity)
        capacity *= 2;
    FULT_ASSERT(std::has_single_bit(capacity), "a hash is masked");
    FULT_ASSERT(live <= used_, "entries in use have an address");
    auto const old = std::exchange(entries_, std::make_unique<address_entry[]>(capacity));
    const std::size_t old_capacity = std::exchange(capacity_, capacity);
    used_ = live;
    for (std::size_t i = 0; i < old_capacity; ++i)
        if (address_entry &e = old[i]; e.address && !(e.latest.is_empty() && e.before.is_empty()))
            *find(e.address) = std::move(e);
}

int dependence_table::add_one(dependence_node *n, const dependence &d, bool record, thread_state *at) {
    address_entry *e = record ? &entry(d.address, at) : find(d.address);
    if (!e || !e->address) { // a wait for an address that no task has named
        for (dependence_node *each : all_)
            n->follow(*each);
        return 0;
    }
    // One at a time is a legal order for tasks that exclude each other.
    const dependence_kind kind = d.kind == dependence_kind::mutexinoutset ? dependence_kind::out : d.kind;
    const bool joins = kind != dependence_kind::out && kind == e->kind;
    for (dependence_node *each : joins ? e->before : e->latest)
        n->follow(*each);
    if (!record)
        return 0;
    if (!joins) {
        e->before.clear(at);
        std::swap(e->before, e->latest);
        e->kind = kind;
    }
    e->latest.add(n, at);
    return 1;
}

int dependence_table::add_all_memory(dependence_node *n, bool record, thread_state *at) {
    for (dependence_node *each : all_)
        n->follow(*each);
    each_entry([&](const address_entry &e) {
        for (dependence_node *each : e.latest)
            n->follow(*each);
        for (dependence_node *each : e.before)
            n->follow(*each);
    });
    if (!record)
        return 0;
    clear(at);
    FULT_ASSERT(used_ == 0 && all_.is_empty(), "all that came before is before the new task");
    all_.add(n, at);
    return 1;
}

int dependence_table::add(dependence_node *n, const dependence *list, std::size_t count, bool record,
                          thread_state *at) {
    int taken = 0;
    for (std::size_t i = 0; i < count; ++i)
        taken += list[i].address ? add_one(n, list[i], record, at) : add_all_memory(n, record, at);
    return taken;
}

void dependence_table::clear(thread_state *at) noexcept {
    each_entry([at](address_entry &e) {
        e.latest.clear(at);
        e.before.clear(at);
        e.address = nullptr;
    });
    used_ = 0;
    all_.clear(at);
}

} // namespace fult::omp

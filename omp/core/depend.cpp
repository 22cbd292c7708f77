#include "depend.hpp"

#include <algorithm>
#include <atomic>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fult/base/spin_lock.hpp"
#include "tasks.hpp"

namespace fult::omp {

struct dependence_node {
    frame *of = nullptr;   // null: a wait for dependences
    scope *gate = nullptr; // of a wait: released instead of a task
    std::atomic<int> waits_for{1};
    std::atomic<int> references{1};
    detail::spin_lock lock;
    bool done = false; // under the lock
    std::vector<dependence_node *> successors;

    void drop() noexcept {
        if (references.fetch_sub(1, std::memory_order_acq_rel) == 1)
            delete this;
    }
};

namespace {

void is_ready(dependence_node *n) {
    if (n->of)
        submit(n->of);
    else
        count_end(*n->gate, one_task, nullptr);
}

void predecessor_ended(dependence_node *n) {
    if (n->waits_for.fetch_sub(1, std::memory_order_acq_rel) == 1)
        is_ready(n);
}

// `after` waits for `before`, unless that has ended.
void add_edge(dependence_node *before, dependence_node *after) {
    if (before == after)
        return;
    before->lock.lock();
    if (!before->done && (before->successors.empty() || before->successors.back() != after)) {
        before->successors.push_back(after);
        after->waits_for.fetch_add(1, std::memory_order_relaxed);
    }
    before->lock.unlock();
}

class node_list {
  public:
    void add(dependence_node *n) {
        n->references.fetch_add(1, std::memory_order_relaxed);
        if (nodes_.size() >= 16 && nodes_.size() == nodes_.capacity())
            prune();
        nodes_.push_back(n);
    }
    void clear() noexcept {
        for (dependence_node *n : nodes_)
            n->drop();
        nodes_.clear();
    }
    void precede(dependence_node *n) const {
        for (dependence_node *each : nodes_)
            add_edge(each, n);
    }
    void swap(node_list &other) noexcept { nodes_.swap(other.nodes_); }
    const std::vector<dependence_node *> &nodes() const noexcept { return nodes_; }

  private:
    void prune() {
        std::erase_if(nodes_, [](dependence_node *n) {
            n->lock.lock();
            const bool done = n->done;
            n->lock.unlock();
            if (done)
                n->drop();
            return done;
        });
    }
    std::vector<dependence_node *> nodes_;
};

// The tasks of one address: the latest group, whose members may run together, and the group before it.
struct address_entry {
    dependence_kind kind = dependence_kind::out;
    node_list latest, before;

    void add(dependence_node *n, dependence_kind k, bool record) {
        // One at a time is a legal order for tasks that exclude each other.
        if (k == dependence_kind::mutexinoutset)
            k = dependence_kind::out;
        if (k != dependence_kind::out && k == kind) {
            before.precede(n);
        } else {
            latest.precede(n);
            if (!record)
                return;
            before.clear();
            before.swap(latest);
            kind = k;
        }
        if (record)
            latest.add(n);
    }
    void clear() noexcept {
        latest.clear();
        before.clear();
    }
};

} // namespace

struct dependences {
    std::unordered_map<const void *, address_entry> entries;
    node_list all; // the last task that depends on all memory

    address_entry &entry(const void *address) {
        const auto [at, is_new] = entries.try_emplace(address);
        if (is_new)
            for (dependence_node *n : all.nodes())
                at->second.latest.add(n);
        return at->second;
    }
    void add_all(dependence_node *n, bool record) {
        all.precede(n);
        for (auto &[address, entry] : entries) {
            entry.latest.precede(n);
            entry.before.precede(n);
        }
        if (!record)
            return;
        for (auto &[address, entry] : entries)
            entry.clear();
        entries.clear();
        all.clear();
        all.add(n);
    }
    void add(dependence_node *n, const dependence *list, std::size_t count, bool record) {
        for (std::size_t i = 0; i < count; ++i)
            if (list[i].address)
                entry(list[i].address).add(n, list[i].kind, record);
            else
                add_all(n, record);
    }
    ~dependences() {
        for (auto &[address, entry] : entries)
            entry.clear();
        all.clear();
    }
};

bool add_dependences(frame *me, frame *f, const dependence *list, std::size_t count) {
    if (!me->attach().children)
        me->more->children = new dependences;
    auto *const n = new dependence_node;
    n->of = f;
    f->attach().node = n;
    me->more->children->add(n, list, count, true);
    return n->waits_for.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

void await_dependences(frame *me, const dependence *list, std::size_t count) {
    if (!me->more || !me->more->children)
        return;
    scope gate(me, nullptr);
    dependence_node n;
    n.gate = &gate;
    n.references.store(2, std::memory_order_relaxed); // never deleted
    gate.live = one_task;
    me->more->children->add(&n, list, count, false);
    if (n.waits_for.fetch_sub(1, std::memory_order_acq_rel) != 1)
        gate.wait(wait_mode::for_bodies);
}

void release_successors(frame *f) noexcept {
    dependence_node *const n = std::exchange(f->more->node, nullptr);
    std::vector<dependence_node *> successors;
    n->lock.lock();
    n->done = true;
    successors.swap(n->successors);
    n->lock.unlock();
    for (dependence_node *each : successors)
        predecessor_ended(each);
    n->drop();
}

void forget_dependences(frame *parent) noexcept { delete std::exchange(parent->more->children, nullptr); }

} // namespace fult::omp

// Histories of concurrent operations, and the search for an order that explains one.
//
// A history is linearizable if its operations, in some order that keeps each one between its invocation and
// its response, are a run of the sequential object. Sources: Herlihy, Wing, "Linearizability: a correctness
// condition for concurrent objects", TOPLAS 12 (1990); the search: Wing, Gong, "Testing and verifying
// concurrent objects", J. Parallel and Distributed Computing 17 (1993); that no pair of operations done and
// state reached is visited twice: Lowe, "Testing for linearizability", Concurrency and Computation:
// Practice and Experience 29 (2017).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <ostream>
#include <set>
#include <utility>
#include <vector>

namespace fult::testing {

// An operation with its result, and when it began and ended.
template <class Operation> struct call {
    unsigned actor;
    Operation operation;
    std::uint64_t invoked, responded;
};

template <class Operation> using history = std::vector<call<Operation>>;

template <class Operation> std::ostream &operator<<(std::ostream &out, const history<Operation> &all) {
    for (const call<Operation> &each : all)
        out << "  actor " << each.actor << ", " << each.invoked << " to " << each.responded << ": "
            << each.operation << '\n';
    return out;
}

// Collects the operations of several actors. Each writes to its own part.
template <class Operation> class recorder {
  public:
    recorder(unsigned actors, std::size_t operations) : parts_(actors) {
        for (auto &part : parts_)
            part.reserve(operations);
    }

    // Calls act(operation), which performs it and notes its result there.
    template <class Act> void record(unsigned actor, Operation operation, const Act &act) {
        const std::uint64_t invoked = clock_.fetch_add(1, std::memory_order_seq_cst);
        act(operation);
        const std::uint64_t responded = clock_.fetch_add(1, std::memory_order_seq_cst);
        parts_[actor].push_back({actor, operation, invoked, responded});
    }

    // When all actors have ended; in the order of invocation.
    history<Operation> collected() const {
        history<Operation> all;
        for (const auto &part : parts_)
            all.insert(all.end(), part.begin(), part.end());
        std::sort(all.begin(), all.end(), [](const auto &a, const auto &b) { return a.invoked < b.invoked; });
        return all;
    }

  private:
    std::atomic<std::uint64_t> clock_{0};
    std::vector<std::vector<call<Operation>>> parts_;
};

// Object: `state`, totally ordered, and `bool apply(state &, const operation &) const`, which is true where
// the operation, with the result that it had, is possible in that state, and changes it.
template <class Object> class linearization {
  public:
    using operation = typename Object::operation;
    using state = typename Object::state;

    linearization(const Object &object, const history<operation> &all) : object_(object), all_(all) {}

    // Up to 64 operations, all of which ended.
    bool exists(const state &initial = state()) { return all_.size() <= 64 && from(initial, 0); }
    std::size_t visited() const { return seen_.size(); }

  private:
    // Whether the operations that are not in `done` can follow.
    bool from(const state &now, std::uint64_t done) {
        std::uint64_t first_response = UINT64_MAX;
        for (std::size_t i = 0; i < all_.size(); ++i)
            if ((done >> i & 1) == 0)
                first_response = std::min(first_response, all_[i].responded);
        if (first_response == UINT64_MAX)
            return object_.may_end(now); // nothing is left
        if (!seen_.emplace(done, now).second)
            return false;
        for (std::size_t i = 0; i < all_.size(); ++i) {
            if ((done >> i & 1) != 0 || all_[i].invoked > first_response)
                continue; // another one ended before it began
            state next = now;
            if (object_.apply(next, all_[i].operation) && from(next, done | std::uint64_t(1) << i))
                return true;
        }
        return false;
    }

    const Object &object_;
    const history<operation> &all_;
    std::set<std::pair<std::uint64_t, state>> seen_;
};

template <class Object>
bool linearizable(const Object &object, const history<typename Object::operation> &all) {
    return linearization<Object>(object, all).exists();
}

} // namespace fult::testing

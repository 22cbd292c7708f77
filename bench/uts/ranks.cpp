// uts-ranks: the tree searched by several ranks, each with its tasks. fult-run -n 4 uts-ranks T1
//
// Each rank keeps a shelf of nodes that are not visited yet, filled from the children of nodes that are
// visited while it has room. Tasks take from it when they have nothing else, and other ranks get the half of
// it that is nearest the root. A rank that has nothing left asks all others once; a request remains until it
// is answered. So no rank polls.
//
// The search is over when all ranks have been idle and no nodes are under way: two waves add up how many
// messages with nodes were sent and received, each rank giving its numbers when it is idle. Where as many
// were received before the first wave ended as were sent before the second one did, nothing went on in
// between (Mattern's four counters).
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <new>
#include <vector>

#include <fult/comm.hpp>
#include <fult/sync.hpp>

#include "common/clock.hpp"
#include "common/fult_version.hpp"
#include "common/record.hpp"
#include "uts/uts.hpp"

namespace {

using namespace bench;
using uts::node;
using uts::totals;
namespace comm = fult::comm;

constexpr std::size_t shelf_room = 512; // nodes; a rank takes from others what is more than that
constexpr std::size_t most_given = 128; // nodes of a message
constexpr std::size_t most_taken = 16;  // nodes that are visited at once
constexpr std::uint32_t visits_between_looks = 1024;
constexpr std::uint32_t stop = 1; // the tag of a rank's last message to itself

struct counters {
    std::uint64_t sent = 0, received = 0;
    counters operator+(const counters &other) const { return {sent + other.sent, received + other.received}; }
};

class tree_search {
  public:
    explicit tree_search(comm::context &ranks)
        : ranks_(ranks),
          rank_(ranks.rank()),
          asked_(std::size_t(ranks.size())),
          asked_by_(std::size_t(ranks.size())),
          gifts_(ranks.make_endpoint({.wildcards = true})),
          waves_(ranks.make_endpoint()),
          asks_(ranks.make_endpoint(
              {.delivery = comm::delivery::handler, .handler = [this](const comm::status &of, auto) {
                   asked_by_[std::size_t(of.source)].store(true, std::memory_order_relaxed);
                   waiting_.fetch_add(1, std::memory_order_release); // pairs with answers
               }})) {}

    // The counts of this rank's visits, once no rank has nodes left.
    totals run() {
        if (rank_ == 0)
            shelf_.push_back(uts::root_node());
        auto watcher = fult::spawn([this] { watch(); });
        totals sum;
        do {
            for (std::vector<node> some; !(some = take()).empty();)
                sum.add(visit_all(some));
            ask();
        } while (receive());
        watcher.join();
        return sum;
    }

    std::uint64_t gifts() const { return counted_.sent; }

  private:
    struct gift {
        int to;
        std::vector<node> nodes;
    };

    totals visit(const node &here) {
        const unsigned count = uts::child_count(here);
        if (count == 0)
            return {1, 1, std::uint64_t(here.depth)};
        return visit_children(here, count);
    }

    auto spawn_child(const node &parent, unsigned index) {
        return fult::spawn([this, &parent, index] { return visit(uts::child_node(parent, index)); });
    }

    [[gnu::noinline]] totals visit_children(const node &here, unsigned count) {
        totals sum{1, 0, 0};
        // Tasks that are never out of work leave their worker no time to poll for messages.
        if (here.state[0] % visits_between_looks == 0)
            ranks_.progress();
        if (count > 1 && (shelf_size_.load(std::memory_order_relaxed) < shelf_room ||
                          waiting_.load(std::memory_order_relaxed) != 0))
            count = shelve(here, count);
        // As in fult.cpp: exactly as many handles as there are children, all of which are joined.
        using handle = decltype(spawn_child(here, 0));
        handle *children = static_cast<handle *>(__builtin_alloca(count * sizeof(handle)));
        for (unsigned i = 0; i < count; ++i)
            ::new (static_cast<void *>(children + i)) handle(spawn_child(here, i));
        while (count > 0)
            sum.add(children[--count].join());
        return sum;
    }

    totals visit_all(const std::vector<node> &some) {
        totals sum;
        if (some.size() == 1)
            return visit(some[0]);
        std::vector<fult::handle<totals>> visits;
        for (const node &each : some)
            visits.push_back(fult::spawn([this, &each] { return visit(each); }));
        for (auto &each : visits)
            sum.add(each.join());
        return sum;
    }

    // Puts the last half of the children on the shelf; how many remain.
    [[gnu::noinline]] unsigned shelve(const node &parent, unsigned count) {
        const unsigned kept = count - std::min<unsigned>(count / 2, shelf_room);
        std::vector<gift> due;
        {
            const std::lock_guard guard(lock_);
            for (unsigned i = kept; i < count; ++i)
                shelf_.push_back(uts::child_node(parent, i));
            due = answers();
        }
        send(due);
        return kept;
    }

    std::vector<node> take() {
        const std::lock_guard guard(lock_);
        const std::size_t count = std::min(most_taken, (shelf_.size() + 1) / 2);
        std::vector<node> some(shelf_.end() - std::ptrdiff_t(count), shelf_.end());
        shelf_.resize(shelf_.size() - count);
        shelf_size_.store(shelf_.size(), std::memory_order_relaxed);
        return some;
    }

    // Under the lock: the requesting rank gets half of the shelf. A node always stays, so that none goes
    // around forever.
    std::vector<gift> answers() {
        std::vector<gift> due;
        for (int other = 0; other < int(asked_by_.size()) && shelf_.size() >= 2; ++other) {
            if (waiting_.load(std::memory_order_acquire) == 0) // pairs with the handler of asks
                break;
            if (!asked_by_[std::size_t(other)].exchange(false, std::memory_order_relaxed))
                continue;
            waiting_.fetch_sub(1, std::memory_order_relaxed);
            const std::size_t count = std::min(most_given, shelf_.size() / 2);
            const auto end = shelf_.begin() + std::ptrdiff_t(count);
            std::nth_element(shelf_.begin(), end, shelf_.end(),
                             [](const node &a, const node &b) { return a.depth < b.depth; });
            due.push_back({other, {shelf_.begin(), end}});
            shelf_.erase(shelf_.begin(), end);
            ++counted_.sent;
        }
        shelf_size_.store(shelf_.size(), std::memory_order_relaxed);
        return due;
    }

    void send(const std::vector<gift> &due) {
        for (const gift &each : due)
            gifts_.send(each.nodes, each.to, 0);
    }

    void ask() {
        for (int other = 0; other < int(asked_.size()); ++other)
            if (other != rank_ && !asked_[std::size_t(other)]) {
                asked_[std::size_t(other)] = true;
                asks_.send(nullptr, 0, other, 0);
            }
    }

    // Waits for nodes; false when there are none any more, anywhere.
    bool receive() {
        {
            const std::lock_guard guard(lock_);
            idle_ = true;
            became_idle_.notify_one();
        }
        std::vector<node> nodes(most_given);
        const comm::status got = gifts_.recv(nodes, comm::any_source, comm::any_tag);
        if (got.tag == stop)
            return false;
        std::vector<gift> due;
        {
            const std::lock_guard guard(lock_);
            idle_ = false;
            ++counted_.received;
            asked_[std::size_t(got.source)] = false;
            shelf_.insert(shelf_.end(), nodes.begin(),
                          nodes.begin() + std::ptrdiff_t(got.size / sizeof(node)));
            due = answers();
        }
        send(due);
        return true;
    }

    void watch() {
        std::uint64_t received_before = 0;
        for (bool first = true, over = false; !over; first = false) {
            counters own;
            {
                std::unique_lock guard(lock_);
                became_idle_.wait(guard, [this] { return idle_; });
                own = counted_;
            }
            const counters all = comm::allreduce(waves_, own, std::plus<>{});
            over = !first && received_before == all.sent;
            received_before = all.received;
        }
        gifts_.send(nullptr, 0, rank_, stop);
    }

    comm::context &ranks_;
    const int rank_;
    std::vector<bool> asked_;                 // others that have not answered yet
    std::vector<std::atomic<bool>> asked_by_; // those that wait for this rank's answer
    std::atomic<unsigned> waiting_{0};        // how many

    fult::qlock lock_;
    std::vector<node> shelf_;
    std::atomic<std::size_t> shelf_size_{0};
    bool idle_ = false;
    counters counted_;
    fult::condition_variable became_idle_;
    comm::endpoint gifts_, waves_, asks_;
};

int search_together(comm::context &ranks, const uts::command_line &wanted) {
    comm::barrier(ranks.world());
    tree_search search(ranks);
    totals own, found;
    const double seconds = timed([&] {
        own = search.run();
        found = comm::allreduce(ranks.world(), own, [](totals a, const totals &b) {
            a.add(b);
            return a;
        });
    });
    const auto gifts = comm::allreduce(ranks.world(), search.gifts(), std::plus<>{});
    const auto most =
        comm::allreduce(ranks.world(), own.nodes, [](auto a, auto b) { return std::max(a, b); });
    const int workers = comm::allreduce(ranks.world(), fult::worker_count(), std::plus<>{});
    const uts::named_tree *known = uts::find_tree(wanted.tree);
    const std::string wrong = known ? uts::compare(found, known->answer) : std::string();
    if (ranks.rank() != 0)
        return wrong.empty() ? 0 : 1;
    if (!wrong.empty()) {
        std::fprintf(stderr, "uts %s, %d ranks: wrong answer: %s\n", wanted.name.c_str(), ranks.size(),
                     wrong.c_str());
        return 1;
    }
    record out;
    out.add("benchmark", "uts").add("case", wanted.name).add("version", "fult-ranks");
    out.add("ranks", ranks.size()).add("workers", workers).add("seconds", seconds).add("tasks", found.nodes);
    out.add("depth", found.depth).add("ns_per_task", seconds * 1e9 / double(found.nodes));
    out.add("gifts", gifts).add("largest_share", double(most) / double(found.nodes));
    out.print();
    return 0;
}

} // namespace

int main(int argc, char **argv) {
    uts::command_line wanted;
    unsigned workers = 0, rounds = 1;
    arguments line("uts-ranks: counts the nodes of an unbalanced tree on several ranks, a task per node.");
    wanted.declare(line);
    line.option("-w,--workers", workers, "kernel threads of each rank; 0: one per processor that it may use");
    line.option("--rounds", rounds, "number of measurements; each writes a record");
    line.parse(argc, argv);
    wanted.finish();
    uts::current_tree = wanted.tree;
    try {
        fult::runtime runtime(fult_options(workers));
        comm::context ranks;
        int status = 0;
        for (unsigned i = 0; i < rounds && status == 0; ++i)
            status = search_together(ranks, wanted);
        return status;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "uts-ranks: %s\n", error.what());
        return 1;
    }
}

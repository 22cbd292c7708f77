// Reductions. At any time a rank holds the combined values of a run of neighbouring ranks, and combines it
// with that of an adjacent run: so the order of the ranks is kept, whichever rank combines.
#include <algorithm>
#include <bit>
#include <vector>

#include <fult/detail/assertion.hpp>

#include "comm/collectives/call.hpp"

namespace fult::comm::detail {
namespace {

// From this size on halving the vector beats exchanging all of it.
constexpr std::size_t large_vector = std::size_t{32} << 10;
// The same for reduce, where the tree has fewer messages: two ranks are 20 to 30 % faster at 1 MiB, and equal
// at 128 KiB.
constexpr std::size_t large_for_one = std::size_t{256} << 10;

enum rounds : std::uint32_t { folding = 64, unfolding, to_root };

// The ranks that take part if their number is not a power of two: of the first ranks, each pair becomes one.
// As seen by one rank.
class folded_ranks {
  public:
    folded_ranks(const collective_call &call, int rank)
        : power_(static_cast<int>(std::bit_floor(static_cast<unsigned>(call.size())))),
          pairs_(call.size() - power_),
          rank_(rank) {}
    int power() const noexcept { return power_; }
    bool in_pair() const noexcept { return rank_ < 2 * pairs_; }
    bool leaves() const noexcept { return in_pair() && rank_ % 2 == 0; }
    int number() const noexcept { return in_pair() ? rank_ / 2 : rank_ - pairs_; } // index among participants
    int rank_of(int number) const noexcept { return number < pairs_ ? 2 * number + 1 : number + pairs_; }

  private:
    int power_, pairs_, rank_;
};

// All exchange all values, with runs that double (recursive doubling).
void allreduce_doubling(collective_call &call, const folded_ranks &participants, void *out, void *room,
                        std::size_t count, const combiner &reduction) {
    std::uint32_t round = 0;
    for (int distance = 1; distance < participants.power(); distance *= 2, ++round) {
        const int other = participants.number() ^ distance;
        call.exchange(out, count * reduction.element, participants.rank_of(other), room,
                      count * reduction.element, participants.rank_of(other), round);
        combine(reduction, out, room, other < participants.number(), count);
    }
}

// A step of halving the vector: the half that this rank keeps, and the half that the other one gets.
struct part {
    std::size_t begin, end;
};
struct halving {
    part kept, given;
    int distance, other; // indices among participants that take part
};

// Halves the vector while the runs double: finally each rank holds a part of the result (Rabenseifner).
std::vector<halving> reduce_scatter_halving(collective_call &call, const folded_ranks &participants,
                                            void *out, void *room, std::size_t count,
                                            const combiner &reduction) {
    std::vector<halving> steps;
    part own{0, count};
    std::uint32_t round = 0;
    for (int distance = 1; distance < participants.power(); distance *= 2, ++round) {
        const int other = participants.number() ^ distance, to = participants.rank_of(other);
        const std::size_t middle = own.begin + (own.end - own.begin) / 2;
        const part low{own.begin, middle}, high{middle, own.end};
        const bool lower = (participants.number() & distance) == 0;
        const halving now{lower ? low : high, lower ? high : low, distance, other};
        const std::size_t kept = now.kept.end - now.kept.begin;
        FULT_ASSERT(own.begin <= middle && middle <= own.end && other < participants.power());
        call.exchange(offset(out, now.given.begin * reduction.element),
                      (now.given.end - now.given.begin) * reduction.element, to, room,
                      kept * reduction.element, to, round);
        combine(reduction, offset(out, now.kept.begin * reduction.element), room,
                other < participants.number(), kept);
        steps.push_back(now);
        own = now.kept;
    }
    return steps;
}

// Then allgathers the result in reverse order.
void allreduce_halving(collective_call &call, const folded_ranks &participants, void *out, void *room,
                       std::size_t count, const combiner &reduction) {
    const auto steps = reduce_scatter_halving(call, participants, out, room, count, reduction);
    auto round = static_cast<std::uint32_t>(steps.size());
    for (auto each = steps.rbegin(); each != steps.rend(); ++each, ++round) {
        const int other = participants.rank_of(each->other);
        call.exchange(offset(out, each->kept.begin * reduction.element),
                      (each->kept.end - each->kept.begin) * reduction.element, other,
                      offset(out, each->given.begin * reduction.element),
                      (each->given.end - each->given.begin) * reduction.element, other, round);
    }
}

// Or gathers it at one rank: of each two, the one nearer to it gets what the other has, which is done then.
void reduce_halving(int root_number, collective_call &call, const folded_ranks &participants, void *out,
                    void *room, std::size_t count, const combiner &reduction) {
    const auto steps = reduce_scatter_halving(call, participants, out, room, count, reduction);
    auto round = static_cast<std::uint32_t>(steps.size());
    for (auto each = steps.rbegin(); each != steps.rend(); ++each, ++round) {
        const int other = participants.rank_of(each->other);
        if (((participants.number() ^ root_number) & each->distance) != 0) {
            call.send(offset(out, each->kept.begin * reduction.element),
                      (each->kept.end - each->kept.begin) * reduction.element, other, round);
            return;
        }
        call.recv(offset(out, each->given.begin * reduction.element),
                  (each->given.end - each->given.begin) * reduction.element, other, round);
    }
}

// The first rank of each surplus pair gives its values to the second; the result is in `sum`.
void reduce_scatter_gather(collective_call &call, void *sum, std::size_t count, int root,
                           const combiner &reduction) {
    const std::size_t size = count * reduction.element;
    const int rank = call.rank();
    const folded_ranks participants(call, rank), at_root(call, root);
    FULT_ASSERT(participants.leaves() || participants.rank_of(participants.number()) == rank,
                "each participant has one number");
    if (participants.leaves()) {
        call.send(sum, size, rank + 1, folding);
    } else {
        scratch room(size);
        if (participants.in_pair()) {
            call.recv(room.data(), size, rank - 1, folding);
            combine(reduction, sum, room.data(), true, count);
        }
        reduce_halving(at_root.number(), call, participants, sum, room.data(), count, reduction);
    }
    if (!at_root.leaves())
        return;
    if (rank == root)
        call.recv(sum, size, root + 1, to_root);
    else if (rank == root + 1)
        call.send(sum, size, root, to_root);
}

// A binomial tree that is always rooted at rank 0: the runs stay in order. One more message sends the result
// to another root.
void reduce_tree(collective_call &call, void *sum, std::size_t count, int root, const combiner &reduction) {
    const std::size_t size = count * reduction.element;
    const int rank = call.rank();
    scratch room(size);
    for (int bit = 1; bit < call.size(); bit *= 2) {
        if ((rank & bit) != 0) {
            call.send(sum, size, rank - bit);
            break;
        }
        if (rank + bit < call.size()) {
            call.recv(room.data(), size, rank + bit);
            combine(reduction, sum, room.data(), false, count);
        }
    }
    if (root == 0)
        return;
    if (rank == root)
        call.recv(sum, size, 0, to_root);
    else if (rank == 0)
        call.send(sum, size, root, to_root);
}

} // namespace

void allreduce(endpoint &ep, const void *in, void *out, std::size_t count, const combiner &reduction,
               std::uint32_t sequence) {
    collective_call call(ep, collective::allreduce, sequence);
    const std::size_t size = count * reduction.element;
    copy_bytes(out, in, size);
    if (call.size() == 1)
        return;
    const folded_ranks participants(call, call.rank());
    FULT_ASSERT(participants.power() <= call.size() && call.size() < 2 * participants.power());
    if (participants.leaves()) {
        call.send(out, size, call.rank() + 1, folding);
        call.recv(out, size, call.rank() + 1, unfolding);
        return;
    }
    scratch room(size);
    if (participants.in_pair()) {
        call.recv(room.data(), size, call.rank() - 1, folding);
        combine(reduction, out, room.data(), true, count);
    }
    if (size >= large_vector && count >= static_cast<std::size_t>(participants.power()))
        allreduce_halving(call, participants, out, room.data(), count, reduction);
    else
        allreduce_doubling(call, participants, out, room.data(), count, reduction);
    if (participants.in_pair())
        call.send(out, size, call.rank() - 1, unfolding);
}

void reduce_at(int root, collective_call &call, void *sum, std::size_t count, const combiner &reduction) {
    const std::size_t size = count * reduction.element;
    if (call.size() > 1 && size >= large_for_one && count >= static_cast<std::size_t>(call.size()))
        reduce_scatter_gather(call, sum, count, root, reduction);
    else
        reduce_tree(call, sum, count, root, reduction);
}

void reduce(endpoint &ep, const void *in, void *out, std::size_t count, int root, const combiner &reduction,
            std::uint32_t sequence) {
    collective_call call(ep, collective::reduce, sequence);
    call.check_root(root);
    const std::size_t size = count * reduction.element;
    scratch sum(size);
    copy_bytes(sum.data(), in, size);
    reduce_at(root, call, sum.data(), count, reduction);
    if (call.rank() == root)
        copy_bytes(out, sum.data(), size);
}

} // namespace fult::comm::detail

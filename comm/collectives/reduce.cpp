// Reductions. Everywhere a rank holds what a run of neighbouring ranks gave, and combines it with that of the
// run beside it: so the order of the ranks is kept, and who combines does not matter.
#include <algorithm>
#include <bit>
#include <vector>

#include "comm/collectives/call.hpp"

namespace fult::comm::detail {
namespace {

// From here on halving the vector beats exchanging all of it.
constexpr std::size_t large = std::size_t{32} << 10;

enum rounds : std::uint32_t { folding = 64, unfolding, to_root };

void combine(const combiner &how, void *accumulated, const void *other, bool other_first, std::size_t count) {
    if (count != 0)
        how.combine(how.op, accumulated, other, other_first, count);
}

// The ranks that go on where their number is no power of two: of the first ones, each pair becomes one.
class folded {
  public:
    explicit folded(const collective_call &call)
        : power_(static_cast<int>(std::bit_floor(static_cast<unsigned>(call.size())))),
          pairs_(call.size() - power_),
          rank_(call.rank()) {}
    int power() const noexcept { return power_; }
    bool in_pair() const noexcept { return rank_ < 2 * pairs_; }
    bool leaves() const noexcept { return in_pair() && rank_ % 2 == 0; }
    int number() const noexcept { return in_pair() ? rank_ / 2 : rank_ - pairs_; } // among those that go on
    int rank_of(int number) const noexcept { return number < pairs_ ? 2 * number + 1 : number + pairs_; }

  private:
    int power_, pairs_, rank_;
};

// Everybody exchanges everything, with runs that double.
void by_doubling(collective_call &call, const folded &those, void *out, void *room, std::size_t count,
                 const combiner &how) {
    std::uint32_t round = 0;
    for (int distance = 1; distance < those.power(); distance *= 2, ++round) {
        const int other = those.number() ^ distance;
        call.exchange(out, count * how.element, those.rank_of(other), room, count * how.element,
                      those.rank_of(other), round);
        combine(how, out, room, other < those.number(), count);
    }
}

// Halves the vector while the runs double, then puts it together the other way round (Rabenseifner).
void by_halving(collective_call &call, const folded &those, void *out, void *room, std::size_t count,
                const combiner &how) {
    struct part {
        std::size_t begin, end;
    };
    struct step {
        part kept, given;
        int other;
    };
    std::vector<step> steps;
    part own{0, count};
    std::uint32_t round = 0;
    for (int distance = 1; distance < those.power(); distance *= 2, ++round) {
        const int other = those.number() ^ distance;
        const std::size_t middle = own.begin + (own.end - own.begin) / 2;
        const part low{own.begin, middle}, high{middle, own.end};
        const bool lower = (those.number() & distance) == 0;
        const step now{lower ? low : high, lower ? high : low, those.rank_of(other)};
        const std::size_t kept = now.kept.end - now.kept.begin;
        call.exchange(offset(out, now.given.begin * how.element),
                      (now.given.end - now.given.begin) * how.element, now.other, room, kept * how.element,
                      now.other, round);
        combine(how, offset(out, now.kept.begin * how.element), room, other < those.number(), kept);
        steps.push_back(now);
        own = now.kept;
    }
    for (auto each = steps.rbegin(); each != steps.rend(); ++each, ++round)
        call.exchange(offset(out, each->kept.begin * how.element),
                      (each->kept.end - each->kept.begin) * how.element, each->other,
                      offset(out, each->given.begin * how.element),
                      (each->given.end - each->given.begin) * how.element, each->other, round);
}

} // namespace

void allreduce(endpoint &among, const void *in, void *out, std::size_t count, const combiner &how) {
    collective_call call(among, collective::allreduce);
    const std::size_t size = count * how.element;
    copy_bytes(out, in, size);
    if (call.size() == 1)
        return;
    const folded those(call);
    if (those.leaves()) {
        call.send(out, size, call.rank() + 1, folding);
        call.recv(out, size, call.rank() + 1, unfolding);
        return;
    }
    scratch room(size);
    if (those.in_pair()) {
        call.recv(room.data(), size, call.rank() - 1, folding);
        combine(how, out, room.data(), true, count);
    }
    if (size >= large && count >= static_cast<std::size_t>(those.power()))
        by_halving(call, those, out, room.data(), count, how);
    else
        by_doubling(call, those, out, room.data(), count, how);
    if (those.in_pair())
        call.send(out, size, call.rank() - 1, unfolding);
}

// A binomial tree whose root is rank 0, whatever the caller's: the runs stay in order. One more message takes
// the result to another root.
void reduce(endpoint &among, const void *in, void *out, std::size_t count, int root, const combiner &how) {
    collective_call call(among, collective::reduce);
    call.check_root(root);
    const std::size_t size = count * how.element;
    const int rank = call.rank();
    scratch sum(size), room(size);
    copy_bytes(sum.data(), in, size);
    for (int bit = 1; bit < call.size(); bit *= 2) {
        if ((rank & bit) != 0) {
            call.send(sum.data(), size, rank - bit);
            break;
        }
        if (rank + bit < call.size()) {
            call.recv(room.data(), size, rank + bit);
            combine(how, sum.data(), room.data(), false, count);
        }
    }
    if (rank == root && rank == 0)
        copy_bytes(out, sum.data(), size);
    else if (rank == root)
        call.recv(out, size, 0, to_root);
    else if (rank == 0)
        call.send(sum.data(), size, root, to_root);
}

} // namespace fult::comm::detail

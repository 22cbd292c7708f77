// Memory that all ranks write and read. Each lane of each rank has a slice of each rank's memory of its own
// and records the expected contents; the owners compare at the end. Also signals, read-only memory, accesses
// that are refused, and regions that end.
#include <algorithm>

#include <fult/sync/latch.hpp>

#include "tests/comm/random/requests.hpp"
#include "tests/comm/random/scene.hpp"

namespace fult::comm::testing {
namespace {

struct layout {
    int ranks;
    int lanes;
    std::size_t slice; // bytes of a lane of one rank
    int rounds;

    std::size_t offset(int rank, int lane) const noexcept {
        return static_cast<std::size_t>(rank * lanes + lane) * slice;
    }
    std::size_t size() const noexcept { return offset(ranks, 0); }
};

layout layout_of(const scene &in) {
    dice d = in.shared(0);
    constexpr std::size_t slices[] = {1, 40, 1000, 9000, 70'000, 300'000};
    return {in.me.size, d.between(1, 3), d.one_of(slices) + d.below(std::size_t{16}), d.between(1, 12)};
}

std::uint64_t hash_of(std::span<const std::byte> bytes) {
    std::uint64_t h = bytes.size();
    for (const std::byte each : bytes)
        h = (h ^ static_cast<std::uint64_t>(each)) * 0x100000001b3U;
    return h;
}

enum tags : std::uint32_t { regions_tag, done_tag, signal_tag, answer_tag = signal_tag + 8 };

// What a rank offers and knows.
struct memory {
    explicit memory(scene &in)
        : is(layout_of(in)),
          bytes(is.size() + guard),
          fixed(is.slice),
          remote(static_cast<std::size_t>(is.ranks)),
          readable(remote.size()),
          ready(1),
          lanes_left((is.lanes + 2) * is.ranks),
          hashes(remote.size(), std::vector<std::uint64_t>(static_cast<std::size_t>(is.lanes))) {
        fill(std::span(bytes).subspan(is.size()), 5);
        fill(fixed, seed_of(in.seed, in.me.rank, 6));
    }
    static constexpr std::size_t guard = 32;
    const layout is;
    std::vector<std::byte> bytes;
    std::vector<std::byte> fixed; // may only be read
    std::vector<remote_region> remote, readable;
    latch ready;
    latch lanes_left;
    std::vector<std::vector<std::uint64_t>> hashes; // of what the lanes have left in others' memory
};

memory &memory_of(scene &in) { return *static_cast<memory *>(in.state.get()); }

// The slice of a lane in the memory of one other rank, and what must be there.
class lane_work {
  public:
    lane_work(actor &by, int target, int lane)
        : by_(by),
          in_(by.in),
          m_(memory_of(in_)),
          target_(target),
          lane_(lane),
          base_(m_.is.offset(in_.me.rank, lane)),
          there_(m_.remote[static_cast<std::size_t>(target)]),
          shadow_(m_.is.slice) {}

    void run() {
        bool lost = there_.rank < 0 || !write(0, m_.is.slice);
        for (int i = 0; i < m_.is.rounds && !lost; ++i) {
            const std::size_t from = by_.roll.below(m_.is.slice),
                              size = by_.roll.below(m_.is.slice - from + 1);
            switch (by_.roll.below(6)) {
            case 0:
            case 1:
                lost = !write(from, size);
                break;
            case 2:
                lost = !read(from, size);
                break;
            case 3:
                lost = !parts(by_.roll.chance(50));
                break;
            case 4:
                lost = !read_fixed(from, size);
                break;
            default:
                refuse(from, size);
            }
            by_.dawdle();
        }
        lost = lost || !read(0, m_.is.slice);
        m_.hashes[static_cast<std::size_t>(target_)][static_cast<std::size_t>(lane_)] = hash_of(shadow_);
    }

  private:
    std::span<std::byte> changed(std::size_t from, std::size_t size) {
        const auto part = std::span(shadow_).subspan(from, size);
        fill(part, by_.roll.next());
        return part;
    }
    bool write(std::size_t from, std::size_t size) {
        const auto part = changed(from, size);
        return by_.attempt(target_, "put", [&] {
            if (by_.roll.chance(50))
                put(in_.own[0], part.data(), size, there_, base_ + from);
            else
                iput(in_.own[0], part.data(), size, there_, base_ + from).wait();
        });
    }
    bool read(std::size_t from, std::size_t size) {
        buffer b(size);
        if (!by_.attempt(target_, "get", [&] {
                if (by_.roll.chance(50))
                    get(in_.own[0], b.data(), size, there_, base_ + from);
                else
                    iget(in_.own[0], b.data(), size, there_, base_ + from).wait();
            }))
            return false;
        in_.expect(std::equal(b.view().begin(), b.view().end(),
                              shadow_.begin() + static_cast<std::ptrdiff_t>(from)) &&
                       !b.overrun(),
                   "get of " + std::to_string(size) + " bytes at " + std::to_string(from) +
                       " does not give what was put");
        return true;
    }
    bool read_fixed(std::size_t from, std::size_t size) {
        std::vector<std::byte> wanted(m_.is.slice), got(size);
        fill(wanted, seed_of(in_.seed, target_, 6));
        if (!by_.attempt(target_, "get of fixed memory",
                         [&] { get(in_.own[0], got, m_.readable[static_cast<std::size_t>(target_)], from); }))
            return false;
        in_.expect(std::equal(got.begin(), got.end(), wanted.begin() + static_cast<std::ptrdiff_t>(from)),
                   "get of fixed memory: wrong bytes");
        return true;
    }

    // The slice in parts that do not overlap, some read and some written, all under way at once.
    bool parts(bool for_a_queue) {
        const std::size_t count = std::min<std::size_t>(m_.is.slice, by_.roll.between(1U, 12U));
        const std::size_t each = m_.is.slice / count;
        completion_queue queue(in_.own[0]);
        std::vector<request> all;
        std::deque<buffer> kept;
        std::vector<bool> is_read;
        for (std::size_t i = 0; i < count; ++i) {
            kept.emplace_back(each);
            is_read.push_back(by_.roll.chance(40));
            const std::size_t from = i * each;
            by_.doing(is_read[i] ? "iget of parts" : "iput of parts");
            if (!is_read[i]) {
                const auto part = changed(from, each);
                std::copy(part.begin(), part.end(), kept[i].data());
            }
            buffer &b = kept[i];
            if (for_a_queue && is_read[i])
                iget(in_.own[0], b.data(), each, there_, base_ + from, queue, i);
            else if (for_a_queue)
                iput(in_.own[0], b.data(), each, there_, base_ + from, queue, i);
            else
                all.push_back(is_read[i] ? iget(in_.own[0], b.data(), each, there_, base_ + from)
                                         : iput(in_.own[0], b.data(), each, there_, base_ + from));
        }
        bool lost = false;
        const auto ended = [&](std::size_t i, errc failure) {
            if (failure != errc::none) {
                in_.expect_loss(error(failure, "an access"), target_, "iput or iget");
                lost = true;
                return;
            }
            in_.expect(!is_read[i] || std::equal(kept[i].view().begin(), kept[i].view().end(),
                                                 shadow_.begin() + static_cast<std::ptrdiff_t>(i * each)),
                       "iget does not give what was put");
            in_.expect(!kept[i].overrun(), "iget wrote behind its memory");
        };
        if (!for_a_queue)
            complete(by_, all, [&](std::size_t i, const outcome &got) { ended(i, got.failure); });
        for (std::size_t n = for_a_queue ? count : 0; n > 0; --n) {
            by_.doing("completion_queue::pop of accesses");
            const completion_event one = queue.pop();
            in_.expect(one.user_data < count, "a completion of no access");
            ended(one.user_data, one.failure);
        }
        return !lost;
    }

    // An error is reported, and no byte moves.
    void refuse(std::size_t from, std::size_t size) {
        std::vector<std::byte> some(size + 1);
        by_.doing("refused accesses");
        try {
            put(in_.own[0], some, there_, m_.is.size() - size);
            in_.fail("a put beyond the region went well");
        } catch (const std::out_of_range &) {
        }
        try {
            put(in_.own[0], some.data(), size, m_.readable[static_cast<std::size_t>(target_)], from);
            in_.fail("a put to memory that may only be read went well");
        } catch (const std::invalid_argument &) {
        }
        remote_region forged = there_;
        forged.id += 1'000'000'007;
        try {
            get(in_.own[0], some.data(), 1, forged, 0);
            in_.fail("a get from a region that does not exist went well");
        } catch (const error &e) {
            if (e.code() != errc::refused)
                in_.expect_loss(e, target_, "get from no region");
        }
    }

    actor &by_;
    scene &in_;
    memory &m_;
    const int target_, lane_;
    const std::size_t base_;
    const remote_region there_;
    std::vector<std::byte> shadow_;
};

// The signals of one rank to another, each answered when the bytes have been seen.
void signals_to(actor &by, int target) {
    scene &in = by.in;
    memory &m = memory_of(in);
    dice d(seed_of(in.seed, in.me.rank, target, 8));
    const int count = d.below(8);
    for (int i = 0; i < count; ++i) {
        buffer b(m.is.slice);
        fill(b.view(), d.next());
        std::uint64_t answer = 0;
        if (m.remote[static_cast<std::size_t>(target)].rank < 0)
            return;
        remote_region there;
        if (!by.attempt(target, "recv of a region for signals",
                        [&] { there = in.own[0].recv<remote_region>(target, in.tag(answer_tag)); }) ||
            !by.attempt(target, "put_signal",
                        [&] {
                            if (by.roll.chance(50))
                                put_signal(in.own[0], b.view(), there, 0, in.tag(signal_tag));
                            else
                                iput_signal(in.own[0], b.view(), there, 0, in.tag(signal_tag)).wait();
                        }) ||
            !by.attempt(target, "recv of an answer to a signal",
                        [&] { answer = in.own[0].recv<std::uint64_t>(target, in.tag(answer_tag)); }))
            return;
        in.expect(answer == hash_of(b.view()), "the bytes of a signal were not there");
    }
}

// A region for each signal, which ends when it has come.
void signals_from(actor &by, int source) {
    scene &in = by.in;
    memory &m = memory_of(in);
    dice d(seed_of(in.seed, source, in.me.rank, 8));
    const int count = d.below(8);
    for (int i = 0; i < count; ++i) {
        buffer b(m.is.slice);
        region own(in.own[0], b.data(), b.size());
        status got;
        if (!by.attempt(source, "send of a region for signals",
                        [&] { in.own[0].send(own.remote(), source, in.tag(answer_tag)); }) ||
            !by.attempt(source, "recv of a signal",
                        [&] { got = in.own[0].recv(nullptr, 0, source, in.tag(signal_tag)); }))
            return;
        in.expect(got.source == source && got.size == 0, "status of a signal");
        const std::uint64_t hash = hash_of(b.view());
        in.expect(!b.overrun(), "a put wrote behind its region");
        if (!by.attempt(source, "answer to a signal",
                        [&] { in.own[0].send(hash, source, in.tag(answer_tag)); }))
            return;
    }
}

// Sends the regions to all others, waits until all lanes of all ranks have finished, and compares.
class offering {
  public:
    explicit offering(actor &by) : by_(by), in_(by.in), m_(memory_of(in_)) {}

    void run() {
        region own(in_.own[0], m_.bytes.data(), m_.is.size());
        region fixed(in_.own[0], static_cast<const void *>(m_.fixed.data()), m_.fixed.size());
        const remote_region mine[2] = {own.remote(), fixed.remote()};
        const std::span<const remote_region> out(mine);
        to_all([&](int other) { return in_.own[0].isend(out, other, in_.tag(regions_tag)); });
        for (int other = 0; other < in_.me.size; ++other) {
            remote_region theirs[2];
            if (by_.attempt(other, "recv of regions",
                            [&] { in_.own[0].recv(std::span(theirs), other, in_.tag(regions_tag)); })) {
                m_.remote[static_cast<std::size_t>(other)] = theirs[0];
                m_.readable[static_cast<std::size_t>(other)] = theirs[1];
            }
        }
        wait_all_sent();
        m_.ready.count_down();
        by_.doing("waiting for the lanes");
        m_.lanes_left.wait();
        to_all([&](int other) {
            return in_.own[0].isend(m_.hashes[static_cast<std::size_t>(other)], other, in_.tag(done_tag));
        });
        for (int other = 0; other < in_.me.size; ++other)
            compare(other);
        wait_all_sent();
        in_.expect(first_difference(std::span(m_.bytes).subspan(m_.is.size()), 5) == memory::guard,
                   "a put wrote behind its region");
    }

  private:
    template <class F> void to_all(F begin) {
        for (int other = 0; other < in_.me.size; ++other) {
            by_.doing("isend to all");
            sent_.push_back(begin(other));
        }
    }
    void wait_all_sent() {
        complete(by_, sent_, [&](std::size_t i, const outcome &got) {
            if (got.failure != errc::none)
                in_.expect_loss(error(got.failure, "a send"), got.known ? static_cast<int>(i) : any_rank,
                                "isend");
        });
    }
    void compare(int other) {
        std::vector<std::uint64_t> hashes(static_cast<std::size_t>(m_.is.lanes));
        if (!by_.attempt(other, "recv of hashes", [&] { in_.own[0].recv(hashes, other, in_.tag(done_tag)); }))
            return;
        for (int lane = 0; lane < m_.is.lanes; ++lane)
            in_.expect(hash_of(std::span(m_.bytes).subspan(m_.is.offset(other, lane), m_.is.slice)) ==
                           hashes[static_cast<std::size_t>(lane)],
                       "what lane " + std::to_string(lane) + " of rank " + std::to_string(other) +
                           " has put is not there");
    }

    actor &by_;
    scene &in_;
    memory &m_;
    std::vector<request> sent_;
};

void begin_one_sided(scene &in) {
    in.state = std::make_shared<memory>(in);
    const memory &m = memory_of(in);
    in.all->add(in, "offers", [](actor &by) { offering(by).run(); });
    const auto add = [&in](const std::string &what, auto body) {
        in.all->add(in, what, [body](actor &by) {
            memory &here = memory_of(by.in);
            by.doing("waiting for the regions");
            here.ready.wait();
            body(by);
            here.lanes_left.count_down();
        });
    };
    for (int other = 0; other < in.me.size; ++other)
        for (int lane = 0; lane < m.is.lanes; ++lane) {
            add("writes to " + std::to_string(other), [=](actor &by) { lane_work(by, other, lane).run(); });
            if (lane == 0) {
                add("signals " + std::to_string(other), [=](actor &by) { signals_to(by, other); });
                add("signals of " + std::to_string(other), [=](actor &by) { signals_from(by, other); });
            }
        }
}

constexpr act_kind one_sided_kinds[] = {{"one_sided", 1, nullptr, begin_one_sided, nullptr}};

} // namespace

std::span<const act_kind> one_sided_acts() { return one_sided_kinds; }

} // namespace fult::comm::testing

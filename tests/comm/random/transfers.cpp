// Long messages, 64 KiB to 3 MiB, some at a time: each is read from the memory of its sender, which may fail
// meanwhile. The memory of a receive that has failed is its caller's again: a pattern that is written there
// stays.
#include <chrono>
#include <deque>
#include <mutex>

#include "tests/comm/random/scene.hpp"

namespace fult::comm::testing {
namespace {

// Memory of receives that have failed, with the pattern of its seed, until the end of the context.
class given_back {
  public:
    void keep(buffer &&of_a_failed_receive, std::uint64_t pattern) {
        fill(of_a_failed_receive.view(), pattern);
        const std::lock_guard held(lock_);
        all_.push_back({std::move(of_a_failed_receive), pattern});
    }
    void check(const scene &in) {
        const std::lock_guard held(lock_);
        for (auto &[memory, pattern] : all_) {
            const std::size_t at = first_difference(memory.view(), pattern);
            in.expect(at == memory.size() && !memory.overrun(),
                      "a receive of " + std::to_string(memory.size()) + " bytes has failed, and later byte " +
                          std::to_string(at) + " of its memory was written");
        }
    }
    bool is_empty() {
        const std::lock_guard held(lock_);
        return all_.empty();
    }

  private:
    struct memory_and_pattern {
        buffer memory;
        std::uint64_t pattern;
    };
    std::mutex lock_;
    std::deque<memory_and_pattern> all_;
};

given_back &memory_of(scene &in) { return *static_cast<given_back *>(in.state.get()); }

struct long_flow {
    int source, destination;
    std::uint32_t tag;
    std::uint64_t seed;
    std::vector<std::size_t> sizes;
    std::size_t at_a_time;

    long_flow(scene &in, std::uint32_t which) : tag(in.tag(which)) {
        dice d = in.shared(which);
        source = d.below(in.me.size);
        destination = d.below(in.me.size);
        // Where a rank fails, most messages come from it.
        if (in.victim >= 0 && d.chance(70))
            source = in.victim;
        seed = d.next();
        at_a_time = d.between(std::size_t{1}, std::size_t{4});
        for (std::size_t left = std::size_t{5} << 20, n = d.between(1U, 8U); n > 0 && left > 65536; --n) {
            const std::size_t most = std::min(left, std::size_t{3} << 20);
            const std::size_t size =
                65536 + d.below(d.chance(40) ? std::min<std::size_t>(most, 300'000) - 65535 : most - 65535);
            sizes.push_back(size);
            left -= size;
        }
    }
    std::uint64_t content(std::size_t i) const noexcept { return seed_of(seed, i); }
};

// Each batch is begun before its first message is waited for.
template <class Begin, class End> void in_batches(const long_flow &f, const Begin &begin, const End &end) {
    for (std::size_t first = 0; first < f.sizes.size(); first += f.at_a_time) {
        std::deque<std::pair<buffer, request>> batch;
        const std::size_t last = std::min(first + f.at_a_time, f.sizes.size());
        for (std::size_t i = first; i < last; ++i) {
            batch.emplace_back(buffer(f.sizes[i]), request());
            begin(i, batch.back().first, batch.back().second);
        }
        for (std::size_t i = first; i < last; ++i)
            end(i, batch[i - first].first, batch[i - first].second);
    }
}

void send_long(actor &by, const long_flow &f) {
    endpoint &through = by.in.own[0];
    in_batches(
        f,
        [&](std::size_t i, buffer &from, request &one) {
            fill(from.view(), f.content(i));
            by.attempt(f.destination, "isend of a long message",
                       [&] { one = through.isend(from.view(), f.destination, f.tag); });
        },
        [&](std::size_t, buffer &from, request &one) {
            if (one.valid())
                by.attempt(f.destination, "wait for a long send", [&] { one.wait(); });
            fill(from.view(), 3); // it is ours again
        });
}

void receive_long(actor &by, const long_flow &f) {
    endpoint &at = by.in.own[0];
    in_batches(
        f,
        [&](std::size_t, buffer &into, request &one) {
            by.attempt(f.source, "irecv of a long message",
                       [&] { one = at.irecv(into.view(), f.source, f.tag); });
        },
        [&](std::size_t i, buffer &into, request &one) {
            const bool came =
                one.valid() && by.attempt(f.source, "wait for a long receive", [&] { one.wait(); });
            if (!came)
                return memory_of(by.in).keep(std::move(into), ~f.content(i));
            const std::size_t where = first_difference(into.view(), f.content(i));
            by.in.expect(where == into.size() && !into.overrun(),
                         "a long message is wrong at byte " + std::to_string(where));
        });
}

void begin_transfers(scene &in) {
    in.state = std::make_shared<given_back>();
    dice d = in.shared(0);
    for (std::uint32_t i = 1, flows = d.between(1U, 3U); i <= flows; ++i) {
        const long_flow f(in, i);
        if (in.me.rank == f.source)
            in.all->add(in, "sends long messages", [f](actor &by) { send_long(by, f); });
        if (in.me.rank == f.destination)
            in.all->add(in, "receives long messages", [f](actor &by) { receive_long(by, f); });
    }
}

void end_transfers(scene &in) { memory_of(in).check(in); }

// What a sender that counts as failed still sends may come only now.
void watch_memory(scene &in) {
    if (in.victim < 0 || memory_of(in).is_empty())
        return;
    this_task::sleep_for(std::chrono::milliseconds(50)); // time: either order is right
    memory_of(in).check(in);
}

constexpr act_kind transfers_kinds[] = {
    {"transfers", 1, nullptr, begin_transfers, end_transfers, watch_memory},
};

} // namespace

std::span<const act_kind> transfer_acts() { return transfers_kinds; }

} // namespace fult::comm::testing

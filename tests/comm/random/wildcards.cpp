// Receives from any source or with any tag. Each rank sends to each other rank; a receiver posts a batch of
// receives of one pattern if enough matching messages are still expected.
#include <algorithm>
#include <mutex>

#include "tests/comm/random/requests.hpp"
#include "tests/comm/random/scene.hpp"

namespace fult::comm::testing {
namespace {

constexpr std::uint32_t tags = 3;

// Messages of each (source, destination, tag): how many, and their sizes.
struct traffic {
    std::uint64_t seed;
    int ranks;
    std::uint32_t most;
    const comm::options &with;

    std::uint32_t count(int from, int to, std::uint32_t tag) const noexcept {
        return static_cast<std::uint32_t>(seed_of(seed, from, to, tag, 1) % (most + 1));
    }
    std::uint64_t content(int from, int to, std::uint32_t tag, std::uint32_t i) const noexcept {
        return seed_of(seed, from, to, tag, i, 2);
    }
    std::size_t size(int from, int to, std::uint32_t tag, std::uint32_t i) const noexcept {
        dice d(seed_of(seed, from, to, tag, i, 3));
        return random_size(d, with, 40'000);
    }
};

traffic traffic_of(const scene &in) {
    dice d = in.shared(0);
    return {d.next(), in.me.size, d.between(1U, 12U), in.with.options};
}

// Sends all that a rank has for another, the tags mixed.
void send_all(actor &by, endpoint &through, const traffic &all, int to) {
    const int own = by.in.me.rank;
    std::vector<std::uint32_t> next(tags, 0);
    std::vector<request> sent;
    std::deque<buffer> kept;
    for (;;) {
        std::uint32_t left = 0;
        for (std::uint32_t t = 0; t < tags; ++t)
            left += all.count(own, to, t) - next[t];
        if (left == 0)
            break;
        std::uint32_t t = by.roll.below(tags);
        while (next[t] == all.count(own, to, t))
            t = (t + 1) % tags;
        const std::uint32_t i = next[t]++;
        kept.emplace_back(all.size(own, to, t, i));
        fill(kept.back().view(), all.content(own, to, t, i));
        buffer &b = kept.back();
        by.doing("isend"); // a send could wait for a receive that is posted after others
        sent.push_back(through.isend(b.data(), b.size(), to, by.in.tag(t)));
        by.dawdle();
    }
    complete(by, sent, [&](std::size_t, const outcome &got) {
        if (got.failure != errc::none)
            by.in.expect_loss(error(got.failure, "a send"), to, "isend");
    });
}

// What a rank receives of an act's messages, by one actor or several.
class receiving {
  public:
    receiving(scene &in, traffic all)
        : in_(in), all_(all), next_(static_cast<std::size_t>(in.me.size) * tags, 0) {
        for (int from = 0; from < in.me.size; ++from)
            for (std::uint32_t t = 0; t < tags; ++t)
                left_ += all_.count(from, in.me.rank, t);
    }

    // Any source and any tag, as long as messages are expected, concurrently with others that do the same.
    void any(actor &by) {
        endpoint &at = in_.own[0];
        for (;;) {
            {
                const std::lock_guard guard(lock_);
                if (left_ == 0)
                    return;
                --left_;
            }
            buffer b(40'000);
            by.doing("recv of any");
            const status got = at.recv(b.view(), any_source, any_tag);
            note(got, b, false);
            by.dawdle();
        }
    }

    // Alone: batches of one pattern.
    void patterns(actor &by) {
        while (left_ > 0) {
            const int from = by.roll.below(in_.me.size);
            const std::uint32_t tag = by.roll.below(tags);
            switch (by.roll.below(4)) {
            case 0:
                batch(by, any_source, any_tag, left_);
                break;
            case 1:
                batch(by, any_source, in_.tag(tag), left_with_tag(tag));
                break;
            case 2:
                batch(by, from, any_tag, left_from(from));
                break;
            default:
                batch(by, from, in_.tag(tag), left(from, tag));
            }
            by.dawdle();
        }
        by.in.expect(!in_.own[0].try_probe(any_source, any_tag), "more messages than were sent");
    }

    // A source that may be lost is waited for by its name alone.
    void from_one(actor &by, int from) {
        endpoint &at = in_.own[0];
        for (;;) {
            std::uint32_t n = 0;
            {
                const std::lock_guard guard(lock_);
                n = left_from(from);
            }
            if (n == 0)
                return;
            buffer b(40'000);
            status got;
            if (!by.attempt(from, "recv of any tag", [&] { got = at.recv(b.view(), from, any_tag); }))
                return;
            const std::lock_guard guard(lock_);
            --left_;
            note_locked(got, b, true);
        }
    }

  private:
    std::uint32_t &next(int from, std::uint32_t tag) {
        return next_[static_cast<std::size_t>(from) * tags + tag];
    }
    std::uint32_t left(int from, std::uint32_t tag) {
        return all_.count(from, in_.me.rank, tag) - next(from, tag);
    }
    std::uint32_t left_from(int from) {
        std::uint32_t sum = 0;
        for (std::uint32_t t = 0; t < tags; ++t)
            sum += left(from, t);
        return sum;
    }
    std::uint32_t left_with_tag(std::uint32_t tag) {
        std::uint32_t sum = 0;
        for (int from = 0; from < in_.me.size; ++from)
            sum += left(from, tag);
        return sum;
    }

    void batch(actor &by, int source, std::int64_t tag, std::uint32_t most) {
        if (most == 0)
            return;
        endpoint &at = in_.own[0];
        const std::uint32_t count = by.roll.between(1U, std::min(most, 12U));
        if (count == 1 && by.roll.chance(50)) {
            by.doing("probe of any");
            const status found = at.probe(source, tag);
            buffer b(found.size);
            by.doing("recv of what was probed");
            const status got = at.recv(b.view(), found.source, found.tag);
            in_.expect(got.size == found.size, "a message that was probed has another size");
            --left_;
            return note(got, b, true);
        }
        std::vector<request> some;
        std::deque<buffer> kept;
        std::vector<status> envelope(count);
        for (std::uint32_t i = 0; i < count; ++i) {
            kept.emplace_back(40'000);
            by.doing("irecv of any");
            some.push_back(at.irecv(kept.back().data(), kept.back().size(), source, tag));
        }
        // In their order: wait_all would not give the statuses.
        for (std::uint32_t i = 0; i < count; ++i) {
            by.doing("wait for any");
            if (by.roll.chance(30) && i + 1 < count) { // a later one first, which is noted in its turn
                envelope[i + 1] = some[i + 1].valid() ? some[i + 1].wait() : envelope[i + 1];
            }
            if (some[i].valid())
                envelope[i] = some[i].wait();
            in_.expect(source == any_source || envelope[i].source == source, "a message of another source");
            in_.expect(tag == any_tag || envelope[i].tag == tag, "a message of another tag");
            --left_;
            note(envelope[i], kept[i], true);
        }
    }

    void note(const status &got, buffer &b, bool in_order) {
        const std::lock_guard guard(lock_);
        note_locked(got, b, in_order);
    }

    void note_locked(const status &got, buffer &b, bool in_order) {
        in_.expect(got.source >= 0 && got.source < in_.me.size, "a source that does not exist");
        std::uint32_t t = 0;
        while (t < tags && in_.tag(t) != got.tag)
            ++t;
        in_.expect(t < tags, "a tag that was not sent");
        std::uint32_t &i = next(got.source, t);
        const std::string text = "message " + std::to_string(i) + " of tag " + std::to_string(t) +
                                 " from rank " + std::to_string(got.source);
        in_.expect(i < all_.count(got.source, in_.me.rank, t), text + " was not sent");
        in_.expect(!b.overrun(), text + ": bytes behind the memory are written");
        if (in_order) {
            in_.expect(got.size == all_.size(got.source, in_.me.rank, t, i),
                       text + ": size " + std::to_string(got.size));
            const std::size_t at =
                first_difference(b.view().first(got.size), all_.content(got.source, in_.me.rank, t, i));
            in_.expect(at == got.size, text + ": wrong at byte " + std::to_string(at));
        } else { // concurrent receivers come here in any order
            find_unordered(got, b, t, text);
        }
        ++i;
    }

    void find_unordered(const status &got, buffer &b, std::uint32_t t, const std::string &text) {
        if (seen_.empty())
            seen_.resize(next_.size());
        std::vector<bool> &seen = seen_[static_cast<std::size_t>(got.source) * tags + t];
        const std::uint32_t count = all_.count(got.source, in_.me.rank, t);
        seen.resize(count);
        for (std::uint32_t k = 0; k < count; ++k)
            if (!seen[k] && all_.size(got.source, in_.me.rank, t, k) == got.size &&
                first_difference(b.view().first(got.size), all_.content(got.source, in_.me.rank, t, k)) ==
                    got.size) {
                seen[k] = true;
                return;
            }
        in_.fail(text + ": its bytes are those of no message that is left");
    }

    scene &in_;
    const traffic all_;
    std::mutex lock_;
    std::vector<std::uint32_t> next_; // by source and tag
    std::vector<std::vector<bool>> seen_;
    std::uint32_t left_ = 0;
};

endpoint_options open_endpoint(scene &, std::uint64_t) { return {.wildcards = true}; }

void begin_wildcards(scene &in) {
    const auto all = std::make_shared<receiving>(in, traffic_of(in));
    in.state = all;
    for (int to = 0; to < in.me.size; ++to)
        in.all->add(in, "sends to " + std::to_string(to),
                    [&in, to](actor &by) { send_all(by, in.own[0], traffic_of(in), to); });
    if (in.victim >= 0) {
        for (int from = 0; from < in.me.size; ++from)
            in.all->add(in, "receives from " + std::to_string(from),
                        [all, from](actor &by) { all->from_one(by, from); });
        return;
    }
    dice d = in.alone(1);
    if (d.chance(60)) {
        in.all->add(in, "receives by patterns", [all](actor &by) { all->patterns(by); });
        return;
    }
    for (int i = 0, n = d.between(2, 5); i < n; ++i)
        in.all->add(in, "receives any", [all](actor &by) { all->any(by); });
}

constexpr act_kind wildcards_kinds[] = {{"wildcards", 1, open_endpoint, begin_wildcards, nullptr}};

} // namespace

std::span<const act_kind> wildcard_acts() { return wildcards_kinds; }

} // namespace fult::comm::testing

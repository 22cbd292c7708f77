// Ordered streams of messages from one actor to another, by every call that sends or receives, and pairs that
// exchange.
#include <algorithm>

#include "tests/comm/random/flows.hpp"
#include "tests/comm/random/requests.hpp"

namespace fult::comm::testing {
namespace {

class flow_sender {
  public:
    flow_sender(actor &by, endpoint &through, flow f) : by_(by), through_(through), f_(std::move(f)) {}

    void run() {
        while (next_ < f_.count() && !lost_) {
            by_.dawdle();
            const unsigned how = by_.roll.below(10U);
            if (how < 4)
                one_by_send();
            else if (how < 5)
                one_by_enqueue();
            else if (how < 8)
                some_by_isend();
            else if (how < 9)
                some_for_a_synchronizer();
            else
                some_for_a_queue();
        }
        if (lost_) // and so does whatever is begun later
            by_.in.expect(!by_.attempt(f_.destination, "send after a loss",
                                       [&] { through_.send(nullptr, 0, f_.destination, f_.tag); }),
                          "a send to a lost rank went well after another had failed");
    }

  private:
    buffer message(std::size_t i) const {
        buffer b(f_.sizes[i]);
        fill(b.view(), f_.content(i));
        return b;
    }

    void one_by_send() {
        buffer b = message(next_++);
        const bool in_pieces = by_.roll.chance(30);
        lost_ = !by_.attempt(f_.destination, "send", [&] {
            if (in_pieces)
                through_.send(std::span<const const_buffer>(pieces_of(by_.roll, b.data(), b.size())),
                              f_.destination, f_.tag);
            else if (b.size() == sizeof(std::uint64_t))
                through_.send(word_at(f_.content(next_ - 1), 0), f_.destination, f_.tag);
            else
                through_.send(b.view(), f_.destination, f_.tag);
        });
        fill(b.view(), 1); // it is ours again
    }

    void one_by_enqueue() {
        if (f_.sizes[next_] > by_.in.with.options.unexpected / 8)
            return one_by_send();
        buffer b = message(next_++);
        lost_ = !by_.attempt(f_.destination, "enqueue", [&] {
            while (!through_.enqueue(b.data(), b.size(), f_.destination, f_.tag))
                by_.pause();
        });
        fill(b.view(), 2);
    }

    // Begins a batch; the messages that it is of.
    template <class F> std::deque<buffer> begin(const char *call, F one) {
        std::deque<buffer> kept;
        for (std::size_t n = batch_size(by_.roll, f_.count() - next_); n > 0; --n) {
            kept.push_back(message(next_));
            by_.doing(call);
            one(kept.back(), next_++);
        }
        return kept;
    }

    void ended(errc failure) {
        if (failure == errc::none)
            return;
        by_.in.expect_loss(error(failure, "a send"), f_.destination, "isend");
        lost_ = true;
    }

    void some_by_isend() {
        std::vector<request> all;
        const std::size_t first = next_;
        const std::deque<buffer> kept = begin("isend", [&](buffer &b, std::size_t) {
            all.push_back(through_.isend(b.data(), b.size(), f_.destination, f_.tag));
        });
        complete(by_, all, [&](std::size_t i, const outcome &got) {
            ended(got.failure);
            if (got.known && got.failure == errc::none)
                by_.in.expect(got.envelope.tag == f_.tag && got.envelope.size == f_.sizes[first + i],
                              "status of a send: size " + std::to_string(got.envelope.size) + ", tag " +
                                  std::to_string(got.envelope.tag));
        });
    }

    void some_for_a_synchronizer() {
        const std::size_t count = batch_size(by_.roll, f_.count() - next_);
        synchronizer all(through_, count);
        std::deque<buffer> kept;
        for (std::size_t i = 0; i < count; ++i) {
            kept.push_back(message(next_++));
            by_.doing("isend for a synchronizer");
            through_.isend(kept.back().data(), kept.back().size(), f_.destination, f_.tag, all);
        }
        while (by_.roll.chance(30) && !all.test())
            by_.pause();
        lost_ = !by_.attempt(f_.destination, "synchronizer::wait", [&] { all.wait(); });
    }

    void some_for_a_queue() {
        completion_queue queue(through_);
        const std::size_t first = next_;
        const std::deque<buffer> kept = begin("isend for a queue", [&](buffer &b, std::size_t i) {
            through_.isend(b.data(), b.size(), f_.destination, f_.tag, queue, i);
        });
        std::vector<bool> seen(kept.size());
        for (std::size_t n = 0; n < kept.size(); ++n) {
            by_.doing("completion_queue::pop");
            std::optional<completion_event> one = by_.roll.chance(50) ? queue.try_pop() : std::nullopt;
            if (!one)
                one = queue.pop();
            by_.in.expect(one->user_data >= first && one->user_data < next_ && !seen[one->user_data - first],
                          "a completion of a send that is none, or reported twice");
            seen[one->user_data - first] = true;
            ended(one->failure);
        }
        by_.in.expect(!queue.try_pop(), "more completions than sends");
    }

    actor &by_;
    endpoint &through_;
    const flow f_;
    std::size_t next_ = 0;
    bool lost_ = false;
};

class flow_receiver {
  public:
    flow_receiver(actor &by, endpoint &at, flow f) : by_(by), at_(at), f_(std::move(f)) {}

    void run() {
        while (next_ < f_.count() && !lost_) {
            by_.dawdle();
            const unsigned how = by_.roll.below(10U);
            if (how < 3)
                one_by_recv();
            else if (how < 5)
                one_by_probe();
            else if (how < 8)
                some_by_irecv();
            else if (how < 9)
                some_for_a_synchronizer();
            else
                some_for_a_queue();
        }
        if (lost_)
            take_what_came_before();
    }

  private:
    std::string text(std::size_t i) const {
        return "message " + std::to_string(i) + " of " + std::to_string(f_.count()) + " from rank " +
               std::to_string(f_.source) + ", " + std::to_string(f_.sizes[i]) + " bytes into " +
               std::to_string(f_.rooms[i]);
    }

    // A long message is lost with its sender; shorter ones behind it may have arrived. No more follow.
    void take_what_came_before() {
        std::size_t more = 0;
        buffer b(600'000);
        while (by_.attempt(f_.source, "recv after a loss", [&] { at_.recv(b.view(), f_.source, f_.tag); }))
            by_.in.expect(++more <= f_.count(), "a lost rank goes on sending");
    }

    void check_status(std::size_t i, const status &got) const {
        by_.in.expect(got.source == f_.source && got.tag == f_.tag && got.size == f_.sizes[i],
                      text(i) + ": status says source " + std::to_string(got.source) + ", tag " +
                          std::to_string(got.tag) + ", size " + std::to_string(got.size));
    }
    void check_content(std::size_t i, buffer &b) const {
        const std::size_t at = first_difference(b.view().first(f_.sizes[i]), f_.content(i));
        by_.in.expect(at == f_.sizes[i], text(i) + ": wrong at byte " + std::to_string(at));
    }
    // What a receive of message i has ended with.
    void ended(std::size_t i, buffer &b, const outcome &got) {
        by_.in.expect(!b.overrun(), text(i) + ": bytes behind the memory are written");
        if (!got.known) {
            if (got.failure == errc::peer_failed)
                return lose();
            by_.in.expect(got.failure == errc::none || got.failure == errc::truncated, "wait_all: an error");
            // A message that was too long may be followed by one that the loss of its sender has ended.
            const bool unsure = got.failure != errc::none && by_.in.may_be_lost(f_.source);
            if (!f_.too_long(i) && !unsure)
                check_content(i, b);
            return;
        }
        if (got.failure == errc::peer_failed)
            return lose();
        by_.in.expect(got.failure == (f_.too_long(i) ? errc::truncated : errc::none),
                      text(i) + ": ended with errc " + std::to_string(static_cast<int>(got.failure)));
        if (got.failure != errc::none)
            return;
        check_status(i, got.envelope);
        check_content(i, b);
    }
    void lose() {
        by_.in.expect_loss(error(errc::peer_failed, "a receive"), f_.source, "receive");
        lost_ = true;
    }

    template <class F> void receive_one(const char *call, F f) {
        const std::size_t i = next_++;
        buffer b(f_.rooms[i]);
        by_.doing(call);
        outcome got;
        try {
            got.envelope = f(b);
        } catch (const error &e) {
            got.failure = fult::comm::detail::code_of(e);
        }
        ended(i, b, got);
    }

    void one_by_recv() {
        const bool in_rooms = by_.roll.chance(30);
        receive_one("recv", [&](buffer &b) {
            if (in_rooms)
                return at_.recv(std::span<const mutable_buffer>(rooms_of(by_.roll, b.data(), b.size())),
                                f_.source, f_.tag);
            if (b.size() == sizeof(std::uint64_t)) {
                std::uint64_t word = 0;
                const status got = at_.recv(word, f_.source, f_.tag);
                std::memcpy(b.data(), &word, sizeof word);
                return got;
            }
            return at_.recv(b.view(), f_.source, f_.tag);
        });
    }

    void one_by_probe() {
        const bool waits = by_.roll.chance(50);
        status found;
        lost_ = !by_.attempt(f_.source, waits ? "probe" : "try_probe", [&] {
            if (waits) {
                found = at_.probe(f_.source, f_.tag);
                return;
            }
            std::optional<status> some;
            while (!(some = at_.try_probe(f_.source, f_.tag))) {
                by_.pause();
                if (by_.in.me.has_failed(f_.source)) { // then try_probe is silent
                    found = at_.probe(f_.source, f_.tag);
                    return;
                }
            }
            found = *some;
        });
        if (lost_)
            return;
        check_status(next_, found);
        one_by_recv();
    }

    void some_by_irecv() {
        std::vector<request> all;
        std::deque<buffer> kept;
        const std::size_t first = next_;
        for (std::size_t n = batch_size(by_.roll, f_.count() - next_); n > 0; --n) {
            kept.emplace_back(f_.rooms[next_++]);
            by_.doing("irecv");
            all.push_back(at_.irecv(kept.back().data(), kept.back().size(), f_.source, f_.tag));
        }
        if (by_.roll.chance(25)) // the last one: nothing comes after it yet
            cancel_all(all, kept);
        complete(by_, all, [&](std::size_t i, const outcome &got) { ended(first + i, kept[i], got); });
    }

    void cancel_all(std::vector<request> &all, std::deque<buffer> &kept) {
        by_.doing("cancel");
        if (!all.back().cancel())
            return;
        try {
            if (all.back().valid())
                all.back().wait();
            by_.in.fail("a receive that was taken back ended well");
        } catch (const error &e) {
            by_.in.expect(e.code() == errc::cancelled,
                          std::string("a receive that was taken back: ") + e.what());
        }
        all.pop_back();
        kept.pop_back();
        --next_;
    }

    void some_for_a_synchronizer() {
        const std::size_t count = batch_size(by_.roll, f_.count() - next_), first = next_;
        synchronizer all(at_, count);
        std::deque<buffer> kept;
        for (std::size_t i = 0; i < count; ++i) {
            kept.emplace_back(f_.rooms[next_++]);
            by_.doing("irecv for a synchronizer");
            at_.irecv(kept.back().data(), kept.back().size(), f_.source, f_.tag, all);
        }
        by_.doing("synchronizer::wait");
        outcome every{false, {}, errc::none};
        try {
            all.wait();
        } catch (const error &e) {
            every.failure = fult::comm::detail::code_of(e);
        }
        for (std::size_t i = 0; i < count; ++i)
            ended(first + i, kept[i], every);
    }

    void some_for_a_queue() {
        completion_queue queue(at_);
        std::deque<buffer> kept;
        const std::size_t count = batch_size(by_.roll, f_.count() - next_), first = next_;
        for (std::size_t i = 0; i < count; ++i) {
            kept.emplace_back(f_.rooms[next_]);
            by_.doing("irecv for a queue");
            at_.irecv(kept.back().data(), kept.back().size(), f_.source, f_.tag, queue, next_++);
        }
        std::vector<bool> seen(count);
        for (std::size_t n = 0; n < count; ++n) {
            by_.doing("completion_queue::pop");
            const completion_event one = queue.pop();
            by_.in.expect(one.user_data >= first && one.user_data < next_ && !seen[one.user_data - first],
                          "a completion of a receive that is none, or reported twice");
            seen[one.user_data - first] = true;
            ended(one.user_data, kept[one.user_data - first], {true, one.envelope, one.failure});
        }
        by_.in.expect(!queue.try_pop(), "more completions than receives");
    }

    actor &by_;
    endpoint &at_;
    const flow f_;
    std::size_t next_ = 0;
    bool lost_ = false;
};

void begin_streams(scene &in) {
    dice d = in.shared(0);
    const bool on_world = d.chance(50);
    const auto through = [&in, on_world]() -> endpoint & { return on_world ? in.me.world : in.own[0]; };
    const std::uint32_t flows = d.between(1U, d.chance(10) ? 40U : 6U);
    for (std::uint32_t i = 1; i <= flows; ++i) {
        const flow f = flow_of(in, i);
        const std::string ends = std::to_string(f.source) + " to " + std::to_string(f.destination);
        if (in.me.rank == f.source)
            in.all->add(in, "sends " + ends,
                        [f, through](actor &by) { flow_sender(by, through(), f).run(); });
        if (in.me.rank == f.destination)
            in.all->add(in, "receives " + ends,
                        [f, through](actor &by) { flow_receiver(by, through(), f).run(); });
    }
}

// Two ranks, or one with itself: as many rounds of sendrecv, each way with a seed and sizes of its own.
void exchange(actor &by, endpoint &through, int with, const flow &out, const flow &in) {
    for (std::size_t i = 0; i < out.count(); ++i) {
        buffer ours(out.sizes[i]), theirs(in.sizes[i]);
        fill(ours.view(), out.content(i));
        status got;
        if (!by.attempt(with, "sendrecv", [&] {
                got = through.sendrecv(ours.data(), ours.size(), with, out.tag, theirs.data(), theirs.size(),
                                       with, in.tag);
            }))
            return;
        by.in.expect(got.source == with && got.tag == in.tag && got.size == in.sizes[i], "sendrecv: status");
        const std::size_t at = first_difference(theirs.view(), in.content(i));
        by.in.expect(at == theirs.size() && !theirs.overrun(),
                     "sendrecv, round " + std::to_string(i) + ": wrong at byte " + std::to_string(at));
        by.dawdle();
    }
}

void begin_exchanges(scene &in) {
    dice d = in.shared(0);
    for (std::uint32_t i = 1, pairs = d.between(1U, 3U); i <= pairs; ++i) {
        flow one = flow_of(in, 2 * i), other = flow_of(in, 2 * i + 1);
        const std::size_t count = std::min(one.count(), other.count());
        one.sizes.resize(count);
        other.sizes.resize(count);
        const int a = one.source, b = one.destination;
        if (in.me.rank == a)
            in.all->add(in, "exchanges",
                        [&in, b, one, other](actor &by) { exchange(by, in.own[0], b, one, other); });
        if (in.me.rank == b && a != b)
            in.all->add(in, "exchanges",
                        [&in, a, one, other](actor &by) { exchange(by, in.own[0], a, other, one); });
        if (in.me.rank == a && a == b)
            in.all->add(in, "exchanges with itself",
                        [&in, a, one, other](actor &by) { exchange(by, in.own[0], a, other, one); });
    }
}

constexpr act_kind streams_kinds[] = {
    {"streams", 1, nullptr, begin_streams, nullptr},
    {"streams", 1, nullptr, begin_streams, nullptr}, // twice as often
    {"exchanges", 1, nullptr, begin_exchanges, nullptr},
};

} // namespace

std::span<const act_kind> stream_acts() { return streams_kinds; }

} // namespace fult::comm::testing

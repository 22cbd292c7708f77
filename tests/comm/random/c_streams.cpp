// Flows of messages by the calls in C, in order; between them calls that are refused.
#include <cstring>

#include "tests/comm/random/flows.hpp"
#include "tests/comm/random/in_c.hpp"

namespace fult::comm::testing {
namespace {

// What became of a request: its status, and an envelope where the call gives one.
struct c_outcome {
    int status;
    const fult_comm_envelope *envelope;
};
using c_ended = std::function<void(std::size_t, const c_outcome &)>;

// Completes all of them, in one of the ways. No request is left afterwards.
void complete_in_c(actor &by, std::vector<fult_comm_request_t> &all, const c_ended &ended) {
    const std::size_t count = all.size();
    const bool with_about = by.roll.chance(70);
    fult_comm_envelope envelope{};
    fult_comm_envelope *const to = with_about ? &envelope : nullptr;
    switch (by.roll.below(4)) {
    case 0:
        for (std::size_t i = 0; i < count; ++i) {
            by.doing("fult_comm_wait");
            const int status = fult_comm_wait(&all[i], to);
            ended(i, {status, to});
        }
        break;
    case 1:
        by.doing("fult_comm_test");
        for (std::size_t left = count; left > 0; by.pause())
            for (std::size_t i = 0; i < count; ++i) {
                if (!all[i])
                    continue;
                const int status = fult_comm_test(&all[i], to);
                if (status == FULT_ERR_BUSY) {
                    by.in.expect(all[i], "fult_comm_test drops a request that is not complete");
                    continue;
                }
                ended(i, {status, to});
                --left;
                by.doing("fult_comm_test");
            }
        break;
    case 2:
        for (std::size_t left = count; left > 0; --left) {
            by.doing("fult_comm_wait_any");
            std::size_t index = count + 1;
            const int status = fult_comm_wait_any(all.data(), count, &index, to);
            by.in.expect(index < count && !all[index], "fult_comm_wait_any: a wrong index");
            ended(index, {status, to});
        }
        {
            std::size_t index = 0;
            expect_status(by.in, "wait_any", fult_comm_wait_any(all.data(), count, &index, to), FULT_SUCCESS);
            by.in.expect(index == count, "fult_comm_wait_any of empty requests");
        }
        break;
    default: {
        by.doing("fult_comm_wait_all");
        std::vector<fult_comm_envelope> abouts(count);
        std::vector<int> results(count, -1);
        const int first =
            fult_comm_wait_all(all.data(), count, with_about ? abouts.data() : nullptr, results.data());
        int wanted = FULT_SUCCESS;
        for (std::size_t i = 0; i < count; ++i) {
            wanted = wanted == FULT_SUCCESS ? results[i] : wanted;
            ended(i, {results[i], with_about ? &abouts[i] : nullptr});
        }
        expect_status(by.in, "wait_all", first, wanted);
    }
    }
    for (std::size_t i = 0; i < count; ++i) {
        by.in.expect(!all[i], "a request in C is not empty after it was completed");
        expect_status(by.in, "wait of an empty request", fult_comm_wait(&all[i], nullptr), FULT_SUCCESS);
    }
    all.clear();
}

class c_sender {
  public:
    c_sender(actor &by, endpoint &through, flow f) : by_(by), on_(through), c_(through), f_(std::move(f)) {}

    void run() {
        while (next_ < f_.count() && !lost_) {
            by_.dawdle();
            if (by_.roll.chance(10))
                refuse_in_c(by_, on_);
            switch (by_.roll.below(5)) {
            case 0:
                one("fult_comm_send", [&](buffer &b) {
                    return fult_comm_send(c_, b.data(), b.size(), f_.destination, f_.tag);
                });
                break;
            case 1:
                one("fult_comm_sendv", [&](buffer &b) {
                    std::vector<fult_comm_const_buffer> pieces;
                    for (const const_buffer &each : pieces_of(by_.roll, b.data(), b.size()))
                        pieces.push_back({each.data, each.size});
                    return fult_comm_sendv(c_, pieces.data(), pieces.size(), f_.destination, f_.tag);
                });
                break;
            case 2:
                if (f_.sizes[next_] <= by_.in.with.options.unexpected / 8)
                    one("fult_comm_enqueue", [&](buffer &b) {
                        int status = FULT_ERR_BUSY;
                        while ((status = fult_comm_enqueue(c_, b.data(), b.size(), f_.destination, f_.tag)) ==
                               FULT_ERR_BUSY)
                            by_.pause();
                        return status;
                    });
                break;
            default:
                some();
            }
        }
        if (lost_) // and so does whatever is begun later
            expect_status(by_.in, "send after a loss", fult_comm_send(c_, nullptr, 0, f_.destination, f_.tag),
                          FULT_COMM_ERR_PEER_FAILED);
    }

  private:
    buffer message(std::size_t i) const {
        buffer b(f_.sizes[i]);
        fill(b.view(), f_.content(i));
        return b;
    }
    template <class Call> void one(const char *call, const Call &how) {
        buffer b = message(next_++);
        by_.doing(call);
        lost_ = !went_well(by_.in, f_.destination, call, how(b));
        fill(b.view(), 1); // it is ours again
    }
    void some() {
        std::vector<fult_comm_request_t> all;
        std::deque<buffer> kept;
        for (std::size_t n = batch_size(by_.roll, f_.count() - next_); n > 0; --n) {
            kept.push_back(message(next_++));
            by_.doing("fult_comm_isend");
            all.push_back(nullptr);
            expect_status(by_.in, "isend",
                          fult_comm_isend(c_, kept.back().data(), kept.back().size(), f_.destination, f_.tag,
                                          &all.back()),
                          FULT_SUCCESS);
            by_.in.expect(all.back(), "fult_comm_isend stores no request");
        }
        complete_in_c(by_, all, [&](std::size_t, const c_outcome &got) {
            if (!went_well(by_.in, f_.destination, "fult_comm_isend", got.status))
                lost_ = true;
        });
    }

    actor &by_;
    endpoint &on_;
    as_in_c c_;
    const flow f_;
    std::size_t next_ = 0;
    bool lost_ = false;
};

class c_receiver {
  public:
    c_receiver(actor &by, endpoint &at, flow f) : by_(by), on_(at), c_(at), f_(std::move(f)) {}

    void run() {
        while (next_ < f_.count() && !lost_) {
            by_.dawdle();
            if (by_.roll.chance(10))
                refuse_in_c(by_, on_);
            switch (by_.roll.below(5)) {
            case 0:
                one_by_recv();
                break;
            case 1:
                one_by_recvv();
                break;
            case 2:
                one_by_probe();
                break;
            default:
                some_by_irecv();
            }
        }
    }

  private:
    std::string text(std::size_t i) const {
        return "in C, message " + std::to_string(i) + " of " + std::to_string(f_.count()) + " from rank " +
               std::to_string(f_.source) + ", " + std::to_string(f_.sizes[i]) + " bytes into " +
               std::to_string(f_.rooms[i]);
    }
    void ended(std::size_t i, buffer &b, const c_outcome &got) {
        by_.in.expect(!b.overrun(), text(i) + ": bytes behind the memory are written");
        if (got.status == FULT_COMM_ERR_PEER_FAILED) {
            lost_ = !went_well(by_.in, f_.source, "receive", got.status);
            return;
        }
        expect_status(by_.in, text(i).c_str(), got.status,
                      f_.too_long(i) ? int{FULT_COMM_ERR_TRUNCATED} : int{FULT_SUCCESS});
        if (f_.too_long(i))
            return;
        if (got.envelope)
            check_envelope(i, *got.envelope);
        const std::size_t at = first_difference(b.view().first(f_.sizes[i]), f_.content(i));
        by_.in.expect(at == f_.sizes[i], text(i) + ": wrong at byte " + std::to_string(at));
    }
    void check_envelope(std::size_t i, const fult_comm_envelope &got) const {
        by_.in.expect(got.source == f_.source && got.tag == f_.tag && got.size == f_.sizes[i],
                      text(i) + ": envelope of source " + std::to_string(got.source) + ", tag " +
                          std::to_string(got.tag) + ", size " + std::to_string(got.size));
    }
    fult_comm_envelope *place() { return by_.roll.chance(70) ? &about_ : nullptr; }

    void one_by_recv() {
        const std::size_t i = next_++;
        buffer b(f_.rooms[i]);
        by_.doing("fult_comm_recv");
        fult_comm_envelope *const to = place();
        const int status = fult_comm_recv(c_, b.data(), b.size(), f_.source, f_.tag, to);
        ended(i, b, {status, to});
    }
    void one_by_recvv() {
        const std::size_t i = next_++;
        buffer b(f_.rooms[i]);
        std::vector<fult_comm_mutable_buffer> rooms;
        for (const mutable_buffer &each : rooms_of(by_.roll, b.data(), b.size()))
            rooms.push_back({each.data, each.size});
        by_.doing("fult_comm_recvv");
        fult_comm_envelope *const to = place();
        const int status = fult_comm_recvv(c_, rooms.data(), rooms.size(), f_.source, f_.tag, to);
        ended(i, b, {status, to});
    }
    void one_by_probe() {
        by_.doing("fult_comm_probe");
        int status = FULT_ERR_BUSY;
        if (by_.roll.chance(50))
            status = fult_comm_probe(c_, f_.source, f_.tag, &about_);
        while (status == FULT_ERR_BUSY) {
            status = by_.in.me.has_failed(f_.source) // then try_probe is silent
                         ? fult_comm_probe(c_, f_.source, f_.tag, &about_)
                         : fult_comm_try_probe(c_, f_.source, f_.tag, &about_);
            if (status == FULT_ERR_BUSY)
                by_.pause();
        }
        lost_ = !went_well(by_.in, f_.source, "fult_comm_probe", status);
        if (lost_)
            return;
        check_envelope(next_, about_);
        one_by_recv();
    }
    void some_by_irecv() {
        std::vector<fult_comm_request_t> all;
        std::deque<buffer> kept;
        const std::size_t first = next_;
        for (std::size_t n = batch_size(by_.roll, f_.count() - next_); n > 0; --n) {
            kept.emplace_back(f_.rooms[next_++]);
            by_.doing("fult_comm_irecv");
            all.push_back(nullptr);
            expect_status(
                by_.in, "irecv",
                fult_comm_irecv(c_, kept.back().data(), kept.back().size(), f_.source, f_.tag, &all.back()),
                FULT_SUCCESS);
        }
        if (by_.roll.chance(25)) // the last one: nothing comes after it yet
            cancel_last(all, kept);
        complete_in_c(by_, all, [&](std::size_t i, const c_outcome &got) { ended(first + i, kept[i], got); });
    }
    void cancel_last(std::vector<fult_comm_request_t> &all, std::deque<buffer> &kept) {
        by_.doing("fult_comm_cancel");
        const int status = fult_comm_cancel(all.back());
        by_.in.expect(status == FULT_SUCCESS || status == FULT_ERR_BUSY,
                      "fult_comm_cancel: " + std::to_string(status));
        if (status == FULT_ERR_BUSY)
            return;
        expect_status(by_.in, "wait of a cancelled receive", fult_comm_wait(&all.back(), nullptr),
                      FULT_COMM_ERR_CANCELLED);
        all.pop_back();
        kept.pop_back();
        --next_;
    }

    actor &by_;
    endpoint &on_;
    as_in_c c_;
    const flow f_;
    fult_comm_envelope about_{};
    std::size_t next_ = 0;
    bool lost_ = false;
};

void begin_c_streams(scene &in) {
    dice d = in.shared(0);
    const bool on_world = d.chance(50);
    const auto through = [&in, on_world]() -> endpoint & { return on_world ? in.me.world : in.own[0]; };
    const std::uint32_t flows = d.between(1U, 6U);
    for (std::uint32_t i = 1; i <= flows; ++i) {
        const flow f = flow_of(in, i);
        const std::string ends = std::to_string(f.source) + " to " + std::to_string(f.destination);
        if (in.me.rank == f.source)
            in.all->add(in, "sends in C " + ends,
                        [f, through](actor &by) { c_sender(by, through(), f).run(); });
        if (in.me.rank == f.destination)
            in.all->add(in, "receives in C " + ends,
                        [f, through](actor &by) { c_receiver(by, through(), f).run(); });
    }
}

// Two ranks, or one with itself, that exchange by sendrecv.
void exchange_in_c(actor &by, endpoint &through, int with, const flow &out, const flow &in) {
    as_in_c c(through);
    for (std::size_t i = 0; i < out.count(); ++i) {
        buffer ours(out.sizes[i]), theirs(in.sizes[i]);
        fill(ours.view(), out.content(i));
        fult_comm_envelope got{};
        by.doing("fult_comm_sendrecv");
        if (!went_well(by.in, with, "fult_comm_sendrecv",
                       fult_comm_sendrecv(c, ours.data(), ours.size(), with, out.tag, theirs.data(),
                                          theirs.size(), with, in.tag, &got)))
            return;
        by.in.expect(got.source == with && got.tag == in.tag && got.size == in.sizes[i],
                     "sendrecv in C: envelope");
        const std::size_t at = first_difference(theirs.view(), in.content(i));
        by.in.expect(at == theirs.size() && !theirs.overrun(),
                     "sendrecv in C: wrong at byte " + std::to_string(at));
        by.dawdle();
    }
}

void begin_c_exchanges(scene &in) {
    dice d = in.shared(0);
    for (std::uint32_t i = 1, pairs = d.between(1U, 3U); i <= pairs; ++i) {
        flow one = flow_of(in, 2 * i), other = flow_of(in, 2 * i + 1);
        const std::size_t count = std::min(one.count(), other.count());
        one.sizes.resize(count);
        other.sizes.resize(count);
        const int a = one.source, b = one.destination;
        if (in.me.rank == a)
            in.all->add(in, "exchanges in C",
                        [&in, b, one, other](actor &by) { exchange_in_c(by, in.own[0], b, one, other); });
        if (in.me.rank == b) // also with itself
            in.all->add(in, "exchanges in C",
                        [&in, a, one, other](actor &by) { exchange_in_c(by, in.own[0], a, other, one); });
    }
}

constexpr act_kind c_streams_kinds[] = {
    {"c_streams", 1, nullptr, begin_c_streams, nullptr},
    {"c_exchanges", 1, nullptr, begin_c_exchanges, nullptr},
};

} // namespace

std::span<const act_kind> c_stream_acts() { return c_streams_kinds; }

} // namespace fult::comm::testing

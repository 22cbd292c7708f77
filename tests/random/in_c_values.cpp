// The objects of sync.h that pass values.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include <fult/sync.h>

#include "acts.hpp"
#include "in_c_waits.hpp"
#include "spawning.hpp"

namespace random_programs::perform {
namespace {

// Each number of a row once, and those of one sender in their order if one receiver takes them all.
class row {
  public:
    row(unsigned senders, unsigned each) : each_(each), seen_(std::size_t{senders} * each) {}
    unsigned size() const noexcept { return static_cast<unsigned>(seen_.size()); }
    std::uint64_t value(unsigned sender, unsigned i) const noexcept {
        return std::uint64_t{sender} * each_ + i;
    }
    // `after`: the last value of each sender that this receiver has got.
    void take(std::uint64_t value, std::vector<std::int64_t> &after) {
        check(value < seen_.size(), "a value in C that was never sent");
        check(seen_[value].fetch_add(1) == 0, "a value in C arrives twice");
        std::int64_t &last = after[value / each_];
        check(last < static_cast<std::int64_t>(value), "values of one sender in C change places");
        last = static_cast<std::int64_t>(value);
        taken_.fetch_add(1);
    }
    std::vector<std::int64_t> none_yet() const {
        return std::vector<std::int64_t>(seen_.size() / each_ + 1, -1);
    }
    unsigned taken() const noexcept { return taken_.load(); }

  private:
    unsigned each_;
    std::vector<std::atomic<unsigned>> seen_;
    std::atomic<unsigned> taken_{0};
};

} // namespace

// Writers fill a word, readers empty it; beside them others look at it.
void c_full_empty(actor &a) {
    const owned_in_c<fult_feb_t> word(fult_feb_create, fult_feb_destroy);
    const unsigned each = a.random.between(1, 8);
    check(fult_feb_is_full(word) == 0, "a new word in C is full");
    std::atomic<std::uint64_t> out{0}, in{0};
    std::atomic<bool> over{false};
    actor_group writers(a, a.random.between(1, 4), [&](actor &self, unsigned number) {
        for (unsigned i = 0; i < each; ++i) {
            const std::uint64_t value = number * each + i + 1;
            get_in_c(
                self, "fult_feb_writeEF", [&] { return fult_feb_writeEF(word, value); },
                [&] { return fult_feb_try_writeEF(word, value); },
                [&](std::int64_t) { return fult_feb_writeEF(word, value); });
            out.fetch_add(value);
        }
    });
    actor_group lookers(a, a.random.below(2), [&](actor &self, unsigned) {
        while (!over.load()) {
            std::uint64_t value = 0;
            const int status = fult_feb_try_readFF(word, self.random.one_in(2) ? &value : nullptr);
            check(status == FULT_SUCCESS || status == FULT_ERR_BUSY, "fult_feb_try_readFF: %d", status);
            self.pause();
        }
    });
    const unsigned all = writers.size() * each;
    writers.open();
    lookers.open();
    for (unsigned i = 0; i < all; ++i) {
        std::uint64_t value = 0;
        get_in_c(
            a, "fult_feb_readFE",
            [&] {
                if (i + 1 == all) { // the only reader that empties it: it stays full
                    std::uint64_t seen = 0;
                    expect_in_c("fult_feb_readFF", fult_feb_readFF(word, &seen));
                    expect_in_c("fult_feb_fill", fult_feb_fill(word));
                    check(fult_feb_is_full(word) == 1, "a filled word in C is empty");
                }
                return fult_feb_readFE(word, &value);
            },
            [&] { return fult_feb_try_readFE(word, &value); },
            [&](std::int64_t) { return fult_feb_readFE(word, &value); });
        in.fetch_add(value);
    }
    over.store(true);
    writers.join();
    lookers.join();
    check(out.load() == in.load(), "a word in C has lost a value");
    expect_in_c("fult_feb_writeF", fult_feb_writeF(word, 5));
    expect_in_c("fult_feb_writeF", fult_feb_writeF(word, 6));
    std::uint64_t value = 0;
    expect_in_c("fult_feb_readFF", fult_feb_readFF(word, &value));
    check(value == 6, "fult_feb_writeF is not seen");
    expect_in_c("fult_feb_try_writeEF", fult_feb_try_writeEF(word, 7), FULT_ERR_BUSY);
    expect_in_c("fult_feb_purge", fult_feb_purge(word));
    expect_in_c("fult_feb_try_readFF", fult_feb_try_readFF(word, &value), FULT_ERR_BUSY);
}

// Several senders and receivers; the last sender closes the channel, and what is in it still arrives.
void c_channel(actor &a) {
    const owned_in_c<fult_channel_t> line(fult_channel_create, fult_channel_destroy,
                                          std::size_t{a.random.below(5)});
    const unsigned each = a.random.between(1, 12);
    std::vector<char> targets; // a value is the address of one
    std::atomic<unsigned> sending{0};
    std::atomic<row *> values{nullptr};
    actor_group senders(a, a.random.between(1, 5), [&](actor &self, unsigned number) {
        for (unsigned i = 0; i < each; ++i) {
            void *const value = &targets[values.load()->value(number, i)];
            get_in_c(
                self, "fult_channel_send", [&] { return fult_channel_send(line, value); },
                [&] { return fult_channel_trysend(line, value); },
                [&](std::int64_t time) { return fult_channel_timedsend(line, value, time); });
        }
        if (sending.fetch_sub(1) == 1)
            expect_in_c("fult_channel_close", fult_channel_close(line));
    });
    row all(senders.size(), each);
    targets.resize(all.size());
    values = &all;
    sending = senders.size();
    const auto receive = [&](actor &self, bool is_last) {
        std::vector<std::int64_t> after = all.none_yet();
        for (;;) {
            void *value = nullptr;
            const unsigned form = self.random.below(4);
            const int status = form == 0 ? fult_channel_tryreceive(line, &value)
                               // time: either order is right
                               : form == 1 ? fult_channel_timedreceive(line, &value, self.random.below(2000))
                               : form == 2 ? fult_channel_timedreceive(line, &value, -1)
                                           : fult_channel_receive(line, &value);
            if (status == FULT_ERR_CLOSED)
                break;
            if (status == FULT_SUCCESS)
                all.take(static_cast<std::uint64_t>(static_cast<char *>(value) - targets.data()), after);
            else
                expect_in_c("fult_channel_receive", status, form == 0 ? FULT_ERR_BUSY : FULT_ERR_TIMEOUT);
            if (status != FULT_SUCCESS || (!is_last && self.random.one_in(4)))
                self.pause();
        }
    };
    actor_group receivers(a, a.random.below(4), [&](actor &self, unsigned) { receive(self, false); });
    if (senders.size() == 0)
        expect_in_c("fult_channel_close", fult_channel_close(line));
    senders.open();
    receivers.open();
    receive(a, true);
    receivers.join();
    senders.join();
    check(all.taken() == all.size(), "%u of %u values of a closed channel in C arrive", all.taken(),
          all.size());
    expect_in_c("fult_channel_send", fult_channel_send(line, &a), FULT_ERR_CLOSED);
    expect_in_c("fult_channel_trysend", fult_channel_trysend(line, &a), FULT_ERR_CLOSED);
    expect_in_c("fult_channel_timedsend", fult_channel_timedsend(line, &a, -1), FULT_ERR_CLOSED);
    expect_in_c("fult_channel_tryreceive", fult_channel_tryreceive(line, nullptr), FULT_ERR_CLOSED);
    expect_in_c("fult_channel_close", fult_channel_close(line));
}

} // namespace random_programs::perform

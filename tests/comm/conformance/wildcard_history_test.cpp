// Random histories of sends, receives, probes and cancellations, compared with a trivial matcher. One thread
// does everything, so each step has ended before the next one begins.
#include <algorithm>
#include <deque>
#include <gtest/gtest.h>
#include <list>
#include <optional>
#include <random>

#include "tests/comm/conformance/ranks.hpp"

namespace {

using namespace fult;
using namespace fult::comm;
using namespace fult::comm::testing;

struct reference_receive {
    int source;
    std::int64_t tag;
    std::size_t number;
    bool fits(int from, std::uint32_t with) const {
        return (source == any_source || source == from) &&
               (tag == any_tag || tag == static_cast<std::int64_t>(with));
    }
};
struct reference_message {
    int source;
    std::uint32_t tag;
    std::uint32_t number;
};

struct posted_receive {
    std::vector<std::byte> bytes;
    request pending;
    std::optional<std::uint32_t> expected; // the message that it has to get
    bool over = false;
};

class history {
  public:
    history(std::uint64_t seed, bool wildcards, bool one_sided)
        : random_(seed), wildcards_(wildcards), hub_(make_hub(one_sided)) {
        settings_.ranks = ranks;
        settings_.options.gather = false;
        const auto at = std::make_shared<meeting>(ranks);
        for (int rank = 0; rank < ranks; ++rank) {
            jobs_.push_back(open_rank(settings_, {hub_}, at, rank));
            ends_.push_back(jobs_.back()->make_endpoint({.wildcards = wildcards}));
        }
    }
    history(const history &) = delete;
    history &operator=(const history &) = delete;
    ~history() {
        ends_.clear();
        std::vector<handle<void>> tasks; // all at a time: they wait for each other
        for (auto &each : jobs_)
            tasks.push_back(spawn([&each] { each.reset(); }));
        join_all(tasks);
    }

    void run(unsigned steps) {
        for (unsigned i = 0; i < steps; ++i) {
            switch (below(8)) {
            case 0:
            case 1:
            case 2:
                send(static_cast<int>(below(ranks)), pick_tag());
                break;
            case 3:
            case 4:
            case 5:
                receive(pick_source(), wildcards_ && below(3) == 0 ? any_tag : pick_tag());
                break;
            case 6:
                probe(pick_source(), wildcards_ && below(3) == 0 ? any_tag : pick_tag());
                break;
            default:
                cancel();
            }
        }
        while (!waiting_.empty())
            send(std::max(0, waiting_.front().source),
                 waiting_.front().tag == any_tag ? 0 : static_cast<std::uint32_t>(waiting_.front().tag));
        while (!unexpected_.empty())
            receive(unexpected_.front().source, unexpected_.front().tag);
        settle();
        for (posted_receive &each : receives_)
            EXPECT_TRUE(each.over);
    }

  private:
    static constexpr int ranks = 3;
    static std::shared_ptr<comm::detail::loopback_hub> make_hub(bool one_sided) {
        comm::detail::loopback_settings s;
        s.one_sided = one_sided;
        return comm::detail::make_loopback_hub(ranks, s);
    }
    std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
    std::uint32_t pick_tag() { return below(4) * 0x1000'0001U; }
    int pick_source() {
        const int source = static_cast<int>(below(ranks + 1));
        return source == ranks ? (wildcards_ ? any_source : 0) : source;
    }

    void settle() {
        for (int i = 0; i < 4; ++i)
            for (const auto &each : jobs_)
                while (each->first_device->progress())
                    ;
        for (posted_receive &each : receives_) {
            if (each.over || !each.expected)
                continue;
            const auto got = each.pending.test();
            ASSERT_TRUE(got.has_value()) << "message " << *each.expected << " has not been received";
            std::uint32_t number = 0;
            std::memcpy(&number, each.bytes.data(), sizeof number);
            EXPECT_EQ(number, *each.expected);
            EXPECT_TRUE(are_bytes_of(number, std::span(each.bytes).first(got->size).subspan(4)));
            each.over = true;
        }
        std::erase_if(sent_, [](auto &each) { return each.second.test().has_value(); });
    }

    void send(int source, std::uint32_t tag) {
        const std::uint32_t number = messages_++;
        std::vector<std::byte> out = bytes_of(number, below(8) == 0 ? 20'000 : below(200));
        out.insert(out.begin(), 4, std::byte{});
        std::memcpy(out.data(), &number, sizeof number);
        sent_.emplace_back(std::move(out), request());
        sent_.back().second = ends_[static_cast<std::size_t>(source)].isend(sent_.back().first, 0, tag);
        const auto first = std::find_if(waiting_.begin(), waiting_.end(),
                                        [&](const reference_receive &r) { return r.fits(source, tag); });
        if (first == waiting_.end()) {
            unexpected_.push_back({source, tag, number});
        } else {
            receives_[first->number].expected = number;
            waiting_.erase(first);
        }
        settle();
    }

    void receive(int source, std::int64_t tag) {
        const reference_receive mine{source, tag, receives_.size()};
        posted_receive &r = receives_.emplace_back();
        r.bytes.resize(20'004);
        r.pending = ends_[0].irecv(r.bytes, source, tag);
        const auto first = oldest(mine);
        if (first == unexpected_.end()) {
            waiting_.push_back(mine);
        } else {
            r.expected = first->number;
            unexpected_.erase(first);
        }
        settle();
    }

    void probe(int source, std::int64_t tag) {
        const auto found = ends_[0].try_probe(source, tag);
        const auto first = oldest({source, tag, 0});
        ASSERT_EQ(found.has_value(), first != unexpected_.end());
        if (found) {
            EXPECT_EQ(found->source, first->source);
            EXPECT_EQ(found->tag, first->tag);
        }
    }

    void cancel() {
        if (receives_.empty())
            return;
        const std::size_t which = below(static_cast<std::uint32_t>(receives_.size()));
        posted_receive &r = receives_[which];
        if (r.over)
            return;
        EXPECT_TRUE(r.pending.cancel());
        EXPECT_THROW(r.pending.wait(), error);
        r.over = true;
        waiting_.remove_if([&](const reference_receive &each) { return each.number == which; });
    }

    std::list<reference_message>::iterator oldest(const reference_receive &r) {
        return std::find_if(unexpected_.begin(), unexpected_.end(),
                            [&](const reference_message &m) { return r.fits(m.source, m.tag); });
    }

    std::mt19937_64 random_;
    bool wildcards_;
    world_settings settings_;
    std::shared_ptr<comm::detail::loopback_hub> hub_;
    std::vector<std::unique_ptr<comm::detail::job>> jobs_;
    std::vector<endpoint> ends_;
    std::list<reference_receive> waiting_;    // in the order in which they were posted
    std::list<reference_message> unexpected_; // in the order in which they came
    std::deque<posted_receive> receives_;     // where they were: requests write into them
    std::list<std::pair<std::vector<std::byte>, request>> sent_;
    std::uint32_t messages_ = 0;
};

void run_histories(bool wildcards, bool one_sided) {
    const runtime running(fult::testing::workers(1));
    for (std::uint64_t seed = 1; seed <= (fult::testing::sanitized ? 2 : 10); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        history h(seed, wildcards, one_sided);
        h.run(static_cast<unsigned>(10 + fult::testing::scaled(500)));
    }
}

TEST(wildcard_history, with_wildcards) { run_histories(true, true); }
TEST(wildcard_history, with_wildcards_in_parts) { run_histories(true, false); }
TEST(wildcard_history, without_wildcards) { run_histories(false, true); }

} // namespace

// Endpoints without receives: messages are queued, handled, or run as tasks. Every rank sends to every other
// one; each message arrives once, those of one sender in order if the delivery is ordered.
#include <algorithm>
#include <chrono>
#include <mutex>

#include "tests/comm/random/requests.hpp"
#include "tests/comm/random/scene.hpp"

namespace fult::comm::testing {
namespace {

// A message names itself in its first bytes.
struct head {
    std::uint32_t lane; // one of those of its sender
    std::uint32_t number;
};

struct plan {
    delivery kind;
    std::uint64_t seed;
    std::uint32_t lanes;
    std::uint32_t most;
    std::size_t longest;
    bool answers; // each message is answered on a second endpoint

    std::uint32_t count(int from, int to, std::uint32_t lane) const noexcept {
        return static_cast<std::uint32_t>(seed_of(seed, from, to, lane, 1) % (most + 1));
    }
    std::uint64_t content(int from, int to, std::uint32_t lane, std::uint32_t i) const noexcept {
        return seed_of(seed, from, to, lane, i, 2);
    }
    std::size_t size(const comm::options &with, int from, int to, std::uint32_t lane,
                     std::uint32_t i) const noexcept {
        dice d(seed_of(seed, from, to, lane, i, 3));
        return sizeof(head) + random_size(d, with, longest);
    }
};

plan plan_of(const scene &in) {
    dice d = in.shared(0);
    constexpr delivery kinds[] = {delivery::queued, delivery::handler, delivery::task};
    plan p{d.one_of(kinds),
           d.next(),
           d.between(1U, 3U),
           d.between(1U, 25U),
           d.chance(60) ? 500U : 60'000U,
           false};
    // It is unknown which messages of a lost rank must still be answered.
    p.answers = p.kind != delivery::queued && d.chance(40) && in.victim < 0;
    return p;
}

// What has come to a rank.
class arrivals {
  public:
    arrivals(scene &in, plan p)
        : in_(in), p_(p), got_(static_cast<std::size_t>(in.me.size)), seen_(got_.size() * p.lanes) {}

    void note(const status &envelope, std::span<const std::byte> bytes, bool in_order) {
        const std::lock_guard guard(lock_);
        const int own = in_.me.rank;
        in_.expect(envelope.size == bytes.size() && envelope.size >= sizeof(head),
                   "a message without a head");
        in_.expect(envelope.source >= 0 && envelope.source < in_.me.size, "a source that does not exist");
        head h;
        std::memcpy(&h, bytes.data(), sizeof h);
        in_.expect(h.lane < p_.lanes && envelope.tag == in_.tag(h.lane), "a message of another lane");
        const std::string text = "message " + std::to_string(h.number) + " of lane " +
                                 std::to_string(h.lane) + " from rank " + std::to_string(envelope.source);
        std::vector<bool> &seen = seen_[static_cast<std::size_t>(envelope.source) * p_.lanes + h.lane];
        seen.resize(p_.count(envelope.source, own, h.lane));
        in_.expect(h.number < seen.size(), text + " was not sent");
        in_.expect(!seen[h.number], text + " has come twice");
        // A message whose bytes were still at a lost rank is lost with it, and leaves a gap.
        in_.expect(!in_order || h.number == 0 || seen[h.number - 1] || in_.may_be_lost(envelope.source),
                   text + " has overtaken one");
        seen[h.number] = true;
        in_.expect(envelope.size == p_.size(in_.with.options, envelope.source, own, h.lane, h.number),
                   text + " has another size");
        const auto rest = bytes.subspan(sizeof h);
        in_.expect(first_difference(rest, p_.content(envelope.source, own, h.lane, h.number)) == rest.size(),
                   text + " has other bytes");
        ++got_[static_cast<std::size_t>(envelope.source)];
    }

    // Whether nothing more is to come.
    bool complete() {
        if (answering != 0)
            return false;
        const std::lock_guard guard(lock_);
        for (int from = 0; from < in_.me.size; ++from) {
            std::uint32_t wanted = 0;
            for (std::uint32_t lane = 0; lane < p_.lanes; ++lane)
                wanted += p_.count(from, in_.me.rank, lane);
            const bool lost = in_.may_be_lost(from) && in_.me.has_failed(from);
            if (got_[static_cast<std::size_t>(from)] < wanted && !lost)
                return false;
        }
        return true;
    }

    const plan &planned() const { return p_; }
    std::atomic<int> answering{0}; // tasks that do so

  private:
    scene &in_;
    const plan p_;
    std::mutex lock_;
    std::vector<std::uint32_t> got_;
    std::vector<std::vector<bool>> seen_;
};

arrivals &arrived(scene &in) { return *static_cast<arrivals *>(in.state.get()); }

// A task of a message may run when others wait, and send.
void in_a_task(scene &in, const status &envelope, std::span<const std::byte> bytes) {
    dice d(seed_of(in.seed, envelope.source, envelope.size, 4));
    if (d.chance(30))
        this_task::yield();
    if (d.chance(5))
        this_task::sleep_for(std::chrono::microseconds(d.below(200))); // time: either order is right
    arrivals &all = arrived(in);
    if (all.planned().answers)
        in.own[0].send(&envelope.size, sizeof envelope.size, envelope.source, envelope.tag);
    all.note(envelope, bytes, false);
}

void in_the_server(scene &in, const status &envelope, std::span<const std::byte> bytes) {
    arrivals &all = arrived(in);
    all.note(envelope, bytes, true);
    if (!all.planned().answers)
        return;
    if (in.own[0].enqueue(&envelope.size, sizeof envelope.size, envelope.source, envelope.tag))
        return;
    // What finds no room is sent by a task.
    ++all.answering;
    spawn([&in, envelope, &all] {
        in.own[0].send(&envelope.size, sizeof envelope.size, envelope.source, envelope.tag);
        --all.answering;
    }).detach();
}

endpoint_options delivered(scene &in, std::uint64_t which) {
    if (which == 0)
        return {};
    const plan p = plan_of(in);
    in.state = std::make_shared<arrivals>(in, p);
    endpoint_options o{.delivery = p.kind};
    if (p.kind == delivery::handler)
        o.handler = [&in](const status &envelope, std::span<const std::byte> bytes) {
            in_the_server(in, envelope, bytes);
        };
    if (p.kind == delivery::task)
        o.handler = [&in](const status &envelope, std::span<const std::byte> bytes) {
            in_a_task(in, envelope, bytes);
        };
    return o;
}

void send_lane(actor &by, int to, std::uint32_t lane) {
    scene &in = by.in;
    const plan p = plan_of(in);
    endpoint &through = in.own[1];
    const std::uint32_t count = p.count(in.me.rank, to, lane), tag = in.tag(lane);
    std::vector<request> sent;
    std::deque<buffer> kept;
    for (std::uint32_t i = 0; i < count; ++i) {
        kept.emplace_back(p.size(in.with.options, in.me.rank, to, lane, i));
        buffer &b = kept.back();
        const head h{lane, i};
        std::memcpy(b.data(), &h, sizeof h);
        fill(b.view().subspan(sizeof h), p.content(in.me.rank, to, lane, i));
        const unsigned how = by.roll.below(3U);
        bool lost = false;
        if (how == 0 && b.size() < in.with.options.unexpected / 8)
            lost = !by.attempt(to, "enqueue", [&] {
                while (!through.enqueue(b.data(), b.size(), to, tag))
                    by.pause();
            });
        else if (how == 1) {
            by.doing("isend");
            sent.push_back(through.isend(b.data(), b.size(), to, tag));
        } else
            lost = !by.attempt(to, "send", [&] { through.send(b.view(), to, tag); });
        if (lost)
            break;
        by.dawdle();
    }
    complete(by, sent, [&](std::size_t, const outcome &got) {
        if (got.failure != errc::none)
            in.expect_loss(error(got.failure, "a send"), to, "isend");
    });
}

// Those of this rank's messages to another.
void receive_answers(actor &by, int from) {
    scene &in = by.in;
    const plan p = plan_of(in);
    std::size_t sum = 0, wanted = 0; // their order is not that of the messages
    for (std::uint32_t lane = 0; lane < p.lanes; ++lane)
        for (std::uint32_t i = 0; i < p.count(in.me.rank, from, lane); ++i) {
            std::size_t size = 0;
            if (!by.attempt(from, "recv of an answer",
                            [&] { in.own[0].recv(&size, sizeof size, from, in.tag(lane)); }))
                return;
            sum += size;
            wanted += p.size(in.with.options, in.me.rank, from, lane, i);
        }
    in.expect(sum == wanted, "answers from rank " + std::to_string(from) + " to other messages");
}

void begin_deliveries(scene &in) {
    const plan p = plan_of(in);
    for (int to = 0; to < in.me.size; ++to) {
        for (std::uint32_t lane = 0; lane < p.lanes; ++lane)
            in.all->add(in, "sends to " + std::to_string(to),
                        [to, lane](actor &by) { send_lane(by, to, lane); });
        if (p.answers)
            in.all->add(in, "answers of " + std::to_string(to), [to](actor &by) { receive_answers(by, to); });
    }
    const int takers = p.kind == delivery::queued ? in.alone(1).between(1, 3) : 0;
    for (int i = 0; i < takers; ++i)
        in.all->add(in, "dequeues", [&in, takers](actor &by) {
            by.doing("dequeue");
            while (!arrived(in).complete()) {
                if (const auto m = in.own[1].dequeue()) {
                    arrived(in).note(m->envelope, m->view(), takers == 1);
                    by.doing("dequeue");
                }
                by.pause();
            }
        });
    if (p.kind != delivery::queued)
        in.all->add(in, "waits for all that comes", [&in](actor &by) {
            by.doing("waiting for handlers");
            while (!arrived(in).complete()) {
                by.in.me.progress();
                by.pause();
            }
        });
}

constexpr act_kind deliveries_kinds[] = {{"deliveries", 2, delivered, begin_deliveries, nullptr}};

} // namespace

std::span<const act_kind> delivery_acts() { return deliveries_kinds; }

} // namespace fult::comm::testing

// Endpoints made in C whose messages are queued, handled, or taken from any source; without a context in C
// there are none.
#include <atomic>
#include <cstring>
#include <mutex>

#include "tests/comm/random/in_c.hpp"

namespace fult::comm::testing {
namespace {

constexpr std::size_t most = 20'000;

// A message: its sender's number, then bytes of its seed.
struct letter {
    std::uint32_t number;
    std::uint32_t size; // of the whole message
};

// What all ranks send to each other on one endpoint.
class c_mail {
  public:
    c_mail(scene &in, int how, bool wildcards) : in_(in), how_(how) {
        dice d = in.shared(static_cast<std::uint64_t>(how) * 2 + 20);
        each_ = d.between(1U, 20U);
        seen_.assign(static_cast<std::size_t>(in.me.size) * each_, 0);
        last_.assign(static_cast<std::size_t>(in.me.size), -1);
        fult_comm_endpoint_attr attr = FULT_COMM_ENDPOINT_ATTR_INIT;
        attr.delivery = how;
        attr.wildcards = wildcards;
        attr.user = this;
        if (how == FULT_COMM_HANDLED || how == FULT_COMM_AS_A_TASK)
            attr.handler = [](void *user, const fult_comm_envelope *envelope, const void *data) {
                static_cast<c_mail *>(user)->take(*envelope, data);
            };
        expect_status(in, "endpoint_create", fult_comm_endpoint_create(&at_, &attr), FULT_SUCCESS);
    }
    c_mail(const c_mail &) = delete;
    c_mail &operator=(const c_mail &) = delete;
    ~c_mail() = default;
    void destroy() { expect_status(in_, "endpoint_destroy", fult_comm_endpoint_destroy(at_), FULT_SUCCESS); }

    void send(actor &by, int to) {
        for (std::uint32_t i = 0; i < each_; ++i) {
            std::vector<std::byte> out(size_of(in_.me.rank, to, i));
            const letter head{i, static_cast<std::uint32_t>(out.size())};
            std::memcpy(out.data(), &head, sizeof head);
            fill(std::span(out).subspan(sizeof head), seed_of(in_.seed, in_.me.rank, to, i, how_));
            by.doing("fult_comm_enqueue or send to an endpoint of C");
            int status = FULT_ERR_BUSY;
            if (by.roll.chance(50))
                status = fult_comm_send(at_, out.data(), out.size(), to, tag());
            while (status == FULT_ERR_BUSY) {
                status = fult_comm_enqueue(at_, out.data(), out.size(), to, tag());
                if (status == FULT_ERR_BUSY)
                    by.pause();
            }
            expect_status(in_, "a message to an endpoint of C", status, FULT_SUCCESS);
            by.dawdle();
        }
    }
    // Until all messages to this rank are here.
    void receive(actor &by) {
        std::vector<std::byte> in(most);
        while (count_.load() < seen_.size()) {
            fult_comm_envelope envelope{};
            if (how_ == FULT_COMM_QUEUED) {
                by.doing("fult_comm_dequeue");
                void *data = nullptr;
                const int status = fult_comm_dequeue(at_, &data, &envelope);
                if (status == FULT_SUCCESS) {
                    take(envelope, data);
                    fult_comm_free(data);
                } else {
                    expect_status(in_, "dequeue", status, FULT_ERR_BUSY);
                    by.pause();
                }
            } else if (how_ == FULT_COMM_MATCHED) {
                by.doing("fult_comm_recv of any");
                const std::int64_t wanted = by.roll.chance(50) ? FULT_COMM_ANY_TAG : std::int64_t{tag()};
                expect_status(
                    in_, "recv of any",
                    fult_comm_recv(at_, in.data(), in.size(), FULT_COMM_ANY_SOURCE, wanted, &envelope),
                    FULT_SUCCESS);
                take(envelope, in.data());
            } else {
                fult_comm_progress();
                by.pause();
            }
        }
        fult_comm_free(nullptr);
    }

  private:
    std::uint32_t tag() const { return in_.tag(5); }
    std::size_t size_of(int from, int to, std::uint32_t i) const {
        dice d(seed_of(in_.seed, from, to, i, how_, 3));
        return std::max(sizeof(letter), random_size(d, in_.with.options, most));
    }
    void take(const fult_comm_envelope &envelope, const void *data) {
        const std::lock_guard guard(lock_);
        letter head{};
        in_.expect(envelope.source >= 0 && envelope.source < in_.me.size && envelope.tag == tag() &&
                       envelope.size >= sizeof head,
                   "an envelope on an endpoint of C");
        std::memcpy(&head, data, sizeof head);
        in_.expect(head.size == envelope.size && head.number < each_ &&
                       envelope.size == size_of(envelope.source, in_.me.rank, head.number),
                   "a message of another size on an endpoint of C");
        const auto bytes =
            std::span(static_cast<const std::byte *>(data), envelope.size).subspan(sizeof head);
        in_.expect(first_difference(bytes, seed_of(in_.seed, envelope.source, in_.me.rank, head.number,
                                                   how_)) == bytes.size(),
                   "a message with wrong bytes on an endpoint of C");
        const auto from = static_cast<std::size_t>(envelope.source);
        in_.expect(seen_[from * each_ + head.number]++ == 0, "a message arrives twice on an endpoint of C");
        if (how_ != FULT_COMM_AS_A_TASK) { // tasks run in any order
            in_.expect(last_[from] < static_cast<int>(head.number),
                       "messages of one rank change places in C");
            last_[from] = static_cast<int>(head.number);
        }
        count_.fetch_add(1);
    }

    scene &in_;
    const int how_;
    fult_comm_endpoint_t at_ = nullptr;
    std::uint32_t each_ = 0;
    std::mutex lock_;
    std::vector<unsigned> seen_;
    std::vector<int> last_;
    std::atomic<std::size_t> count_{0};
};

// Endpoints are made here, in the order of the acts, which is that of all ranks.
void begin_c_deliveries(scene &in) {
    if (!is_in_c() || in.victim >= 0)
        return;
    dice d = in.shared(1);
    const int how = d.below(4);
    const auto mail = std::make_shared<c_mail>(in, how, how == FULT_COMM_MATCHED);
    in.state = mail;
    for (int to = 0; to < in.me.size; ++to)
        in.all->add(in, "sends in C to " + std::to_string(to), [mail, to](actor &by) { mail->send(by, to); });
    in.all->add(in, "receives in C", [mail](actor &by) { mail->receive(by); });
}

void end_c_deliveries(scene &in) {
    if (in.state)
        static_cast<c_mail *>(in.state.get())->destroy();
}

constexpr act_kind c_deliveries_kinds[] = {
    {"c_deliveries", 0, nullptr, begin_c_deliveries, end_c_deliveries}};

} // namespace

std::span<const act_kind> c_delivery_acts() { return c_deliveries_kinds; }

} // namespace fult::comm::testing

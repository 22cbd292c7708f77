// Endpoints whose messages are delivered without a receive, and receives from any source or with any tag.
#include <atomic>
#include <mutex>
#include <utility>

#include "tests/comm/conformance/party.hpp"

namespace fult::comm::testing {
namespace {

constexpr int rounds = 60;

std::size_t size_of(int i) {
    return i % 9 == 4 ? 40'000 : i % 4 == 1 ? 6000 : static_cast<std::size_t>(i) + 8;
}

// Message i from one rank to each, this one included.
void send_all(endpoint &through, int size, std::uint32_t tag) {
    for (int i = 0; i < rounds; ++i)
        for (int to = 0; to < size; ++to) {
            std::vector<std::byte> out = bytes_of(static_cast<std::uint64_t>(i), size_of(i));
            through.send(out, to, tag);
        }
}

// The messages that one rank has received, by source.
class received {
  public:
    explicit received(int size) : next_(static_cast<std::size_t>(size)) {}

    void note(const status &envelope, std::span<const std::byte> bytes, bool ordered) {
        const std::lock_guard guard(lock_);
        int &next = next_[static_cast<std::size_t>(envelope.source)];
        const bool fits = !ordered || (bytes.size() == size_of(next) &&
                                       are_bytes_of(static_cast<std::uint64_t>(next), bytes));
        wrong_ = wrong_ || !fits || bytes.size() != envelope.size || envelope.tag != 4;
        ++next;
        ++count_;
    }
    bool wrong() const { return wrong_; }
    int count() const { return count_; }

  private:
    std::mutex lock_;
    std::vector<int> next_;
    std::atomic<bool> wrong_{false};
    std::atomic<int> count_{0};
};

void queued(party &p) {
    endpoint queue = p.make_endpoint({.delivery = delivery::queued});
    received got(p.size);
    handle<void> sender = spawn([&] { send_all(queue, p.size, 4); });
    while (got.count() != rounds * p.size) {
        if (const auto m = queue.dequeue())
            got.note(m->envelope, m->view(), true);
        else
            this_task::yield();
    }
    sender.join();
    require(!got.wrong(), "sizes, bytes and order");
    require(!queue.dequeue(), "nothing more");
    p.barrier();
}

void handled(party &p) {
    received got(p.size);
    endpoint active =
        p.make_endpoint({.delivery = delivery::handler,
                         .handler = [&](const status &envelope, std::span<const std::byte> bytes) {
                             got.note(envelope, bytes, true);
                         }});
    send_all(active, p.size, 4);
    while (got.count() != rounds * p.size)
        this_task::yield();
    require(!got.wrong(), "sizes, bytes and order");
    p.barrier();
}

// A handler that sends: its answer goes to a receive. An answer that does not fit is sent by a task.
void handler_that_answers(party &p) {
    std::mutex lock;
    std::vector<std::pair<int, std::vector<std::byte>>> later;
    std::atomic<bool> over{false};
    endpoint active =
        p.make_endpoint({.delivery = delivery::handler,
                         .handler = [&](const status &envelope, std::span<const std::byte> bytes) {
                             if (p.world.enqueue(bytes.data(), bytes.size(), envelope.source, 7))
                                 return;
                             const std::lock_guard guard(lock);
                             later.emplace_back(envelope.source, std::vector(bytes.begin(), bytes.end()));
                         }});
    handle<void> rest = spawn([&] {
        while (!over) {
            decltype(later) some;
            {
                const std::lock_guard guard(lock);
                some.swap(later);
            }
            for (const auto &[to, bytes] : some)
                p.world.send(bytes, to, 7);
            this_task::yield();
        }
    });
    for (int i = 0; i < rounds; ++i) {
        const std::vector<std::byte> out = bytes_of(static_cast<std::uint64_t>(i), size_of(i));
        std::vector<std::byte> in(out.size());
        active.send(out, p.next(), 7);
        p.world.recv(in, p.next(), 7);
        require(in == out, "the message itself");
    }
    p.barrier();
    over = true;
    rest.join();
}

// Each message gets a task, which may wait for others.
void as_a_task(party &p) {
    received got(p.size);
    std::atomic<bool> wrong{false};
    endpoint back = p.make_endpoint({});
    endpoint active =
        p.make_endpoint({.delivery = delivery::task,
                         .handler = [&](const status &envelope, std::span<const std::byte> bytes) {
                             std::uint32_t which = 0;
                             std::memcpy(&which, bytes.data(), sizeof which);
                             const int doubled = back.recv<int>(envelope.source, which); // waits
                             if (doubled != static_cast<int>(which) * 2)
                                 wrong = true;
                             got.note(envelope, bytes, false);
                         }});
    handle<void> sender = spawn([&] {
        for (std::uint32_t i = 0; i < rounds; ++i)
            for (int to = 0; to < p.size; ++to) {
                std::vector<std::byte> out(size_of(static_cast<int>(i)));
                std::memcpy(out.data(), &i, sizeof i);
                active.send(out, to, 4);
            }
    });
    sender.join();
    for (int i = rounds; i-- > 0;)
        for (int to = 0; to < p.size; ++to)
            back.send(i * 2, to, static_cast<std::uint32_t>(i));
    while (got.count() != rounds * p.size)
        this_task::yield();
    require(!got.wrong() && !wrong, "what the tasks saw");
    p.barrier();
}

// What each rank has sent to all, in three ways.
void receive_with_wildcards(party &p, endpoint &open) {
    // Any source, one tag: each source's in order.
    std::vector<int> next(static_cast<std::size_t>(p.size), 0);
    std::vector<std::byte> in(40'000);
    for (int i = 0; i < rounds / 3 * p.size; ++i) {
        const status got = open.recv(in, any_source, 0);
        int &which = next[static_cast<std::size_t>(got.source)];
        require_status(got, got.source, 0, size_of(which));
        require(are_bytes_of(static_cast<std::uint64_t>(which), std::span(in).first(got.size)), "bytes");
        which += 3;
    }
    // One source, any tag: in order over the tags.
    for (int i = 0; i < rounds; ++i)
        if (i % 3 != 0)
            require_status(open.recv(in, p.previous(), any_tag), p.previous(),
                           static_cast<std::uint32_t>(i % 3), size_of(i));
    // Anything.
    for (int i = 0; i < (rounds - rounds / 3) * (p.size - 1); ++i) {
        const status found = open.probe(any_source, any_tag);
        const status got = open.recv(in, any_source, any_tag);
        require(got.source != p.previous() || p.size == 1, "those are through");
        require_status(got, found.source, found.tag, found.size);
    }
}

void wildcards(party &p) {
    endpoint open = p.make_endpoint({.wildcards = true});
    std::vector<std::vector<std::byte>> out;
    std::vector<request> sent;
    for (int i = 0; i < rounds; ++i) {
        out.push_back(bytes_of(static_cast<std::uint64_t>(i), size_of(i)));
        for (int to = 0; to < p.size; ++to)
            sent.push_back(open.isend(out.back(), to, static_cast<std::uint32_t>(i % 3)));
    }
    report_errors("wildcards", [&] {
        receive_with_wildcards(p, open);
        wait_all(sent);
    });
    require(!open.try_probe(any_source, any_tag), "nothing is left");
    // A receive that was there first is served first.
    int one = 0, other = 0;
    request any = open.irecv(std::span(&one, 1), any_source, any_tag);
    request exact = open.irecv(std::span(&other, 1), p.previous(), 9);
    p.barrier();
    outbox two(open);
    two.send(1, p.next(), 9);
    two.send(2, p.next(), 9);
    any.wait();
    exact.wait();
    require(one == 1 && other == 2, "in the order of the receives");
    p.barrier();
}

constexpr conformance_case all_delivery_cases[] = {
    {"queued", queued},       {"handled", handled},     {"handler_that_answers", handler_that_answers},
    {"as_a_task", as_a_task}, {"wildcards", wildcards},
};

} // namespace

std::span<const conformance_case> delivery_cases() { return all_delivery_cases; }

} // namespace fult::comm::testing

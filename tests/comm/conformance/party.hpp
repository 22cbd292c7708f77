// The requirements on the transports, as a list of cases that all ranks of a job run together: in one process
// over loopback (loopback_test.cpp), and as processes (comm_conformance.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fult/comm.hpp>

#include "tests/support/bytes.hpp"
#include "tests/support/scale.hpp"

namespace fult::comm::testing {

// A rank as a case sees it.
struct party {
    int rank = 0;
    int size = 1;
    endpoint &world;
    std::function<endpoint(endpoint_options)> make_endpoint;
    std::function<void()> barrier;

    int next() const { return (rank + 1) % size; }
    int previous() const { return (rank + size - 1) % size; }
};

struct conformance_case {
    const char *name;
    void (*run)(party &);
};

std::span<const conformance_case> conformance_cases();

// The parts of the list, a file each.
std::span<const conformance_case> basic_cases();
std::span<const conformance_case> request_cases();
std::span<const conformance_case> order_cases();
std::span<const conformance_case> delivery_cases();
std::span<const conformance_case> one_sided_cases();
std::span<const conformance_case> completion_cases();
std::span<const conformance_case> crowd_cases();
std::span<const conformance_case> subset_cases();
std::span<const conformance_case> matched_cases();
std::span<const conformance_case> layout_cases();

// Makes and destroys so many endpoints of all ranks, one after the other.
void subsets_in_turn(party &p, int rounds);

// The position of a requirement in the source. (clang 14 has no std::source_location.)
struct place {
    const char *file;
    unsigned line;
    static constexpr place here(const char *file = __builtin_FILE(), unsigned line = __builtin_LINE()) {
        return {file, line};
    }
};

// Throws if the requirement does not hold. The other ranks would wait forever, so the whole run ends.
inline void require(bool holds, const std::string &what, place where = place::here()) {
    if (holds)
        return;
    const std::string text = std::string(where.file) + ":" + std::to_string(where.line) + ": " + what;
    std::fprintf(stderr, "%s\n", text.c_str()); // at once: what is unwound now may wait for the others
    throw std::logic_error(text);
}

template <class A, class B>
void require_equal(const A &is, const B &expected, const std::string &what, place where = place::here()) {
    if (!(is == expected))
        require(false, what + ": " + std::to_string(is) + " instead of " + std::to_string(expected), where);
}

inline void require_status(const status &got, int source, std::uint32_t tag, std::size_t size,
                           place where = place::here()) {
    require_equal(got.source, source, "source", where);
    require_equal(got.tag, tag, "tag", where);
    require_equal(got.size, size, "size", where);
}

// Prints at once what ends `act`: its requests are complete only with the others' help, and a request that is
// destroyed before that ends the process, without the reason.
template <class F> void report_errors(const char *what, F act) {
    try {
        act();
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s: %s\n", what, e.what());
        throw;
    }
}

// The call must end with that error.
template <class F> std::string require_error(errc code, F call, place where = place::here()) {
    try {
        call();
    } catch (const error &e) {
        require(e.code() == code, std::string("another error: ") + e.what(), where);
        return e.what();
    }
    require(false, "no error", where);
    return {};
}

template <class Exception, class F> void require_throw(F call, place where = place::here()) {
    try {
        call();
    } catch (const Exception &) {
        return;
    }
    require(false, "no exception", where);
}

// See tests/support/bytes.hpp.
using fult::testing::byte_at;
inline std::vector<std::byte> bytes_of(std::uint64_t seed, std::size_t size) {
    std::vector<std::byte> all(size);
    fult::testing::fill_bytes(seed, 0, all.data(), size);
    return all;
}
inline bool are_bytes_of(std::uint64_t seed, std::span<const std::byte> bytes) {
    return fult::testing::are_bytes(seed, 0, bytes.data(), bytes.size());
}

// Sends that continue without a receive: any send may wait for its receive, if the receiver has asked for
// that.
class outbox {
  public:
    explicit outbox(endpoint &through) : through_(through) {}
    outbox(const outbox &) = delete;
    outbox &operator=(const outbox &) = delete;
    ~outbox() {
        try {
            wait_all(sent_);
        } catch (const error &) { // of no interest
        }
    }
    void send(std::vector<std::byte> bytes, int to, std::uint32_t tag) {
        kept_.push_back(std::move(bytes));
        sent_.push_back(through_.isend(kept_.back(), to, tag));
    }
    template <plain T>
    requires(!std::ranges::range<T>) void send(const T &value, int to, std::uint32_t tag) {
        std::vector<std::byte> bytes(sizeof value);
        std::memcpy(bytes.data(), &value, sizeof value);
        send(std::move(bytes), to, tag);
    }

  private:
    endpoint &through_;
    std::deque<std::vector<std::byte>> kept_; // where they were
    std::vector<request> sent_;
};

// Sizes around the limits of the protocol: empty, a word, what is injected, a packet of shm and of the other
// transports (each without and with its heads), 64 KiB and 1 MiB.
inline std::vector<std::size_t> border_sizes() {
    std::vector<std::size_t> all{0, 1, 7, 8, 9};
    for (const std::size_t border : {232, 256, 488, 512, 4072, 4096, 8168, 8192, 1 << 16})
        all.insert(all.end(), {border - 1, border, border + 1});
    all.push_back(1 << 20);
    return all;
}

} // namespace fult::comm::testing

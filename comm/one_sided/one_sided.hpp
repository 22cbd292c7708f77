// Memory that other ranks write and read: the regions of this rank, its operations on regions of others, and
// theirs on its own. The target's server checks and carries out every access; no task of the target takes
// part. Bytes that fit a packet travel with the request, or its answer; the target moves more of them
// directly where its transport can, between the region and the origin's memory, and in parts where not. So
// what a region holds is touched by its own rank alone, which knows what is under way when the region ends.
// Sources: section 2.2 of PPL for the operations, section 5.2.6 of Dang's dissertation for their completion.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "comm/device.hpp"
#include "comm/id_table.hpp"
#include "comm/one_sided/records.hpp"
#include "comm/operation.hpp"

namespace fult::comm::detail {

struct region_state {
    std::byte *base = nullptr;
    std::size_t size = 0;
    bool writable = false;
    std::uint64_t id = 0;
    unsigned uses = 0; // accesses that touch it outside the device's lock, or will
    memory enrolled[2];
    bool is_enrolled[2] = {};

    bool contains(std::uint64_t offset, std::uint64_t length) const noexcept {
        return offset <= size && length <= size - offset;
    }
};

// What goes to another rank when there is room. Of one rank in order.
struct outgoing {
    enum class form : std::uint8_t { access, serving, reply } it_is;
    int rank = -1;
    outgoing *next = nullptr;
    explicit outgoing(form f) noexcept : it_is(f) {}
};

// An operation of this rank.
struct access : operation, outgoing {
    access() noexcept : outgoing(form::access) { is_a = operation_kind::access; }
    bool is_put = false;
    bool signals = false;
    bool direct = false;    // the target is to move the bytes itself
    bool announced = false; // the request is on its way; until then nobody can know the name
    std::byte *local = nullptr;
    std::size_t size = 0;
    std::uint64_t region = 0;
    std::uint64_t offset = 0;
    endpoint_state *through = nullptr; // until it has begun: it may end before the access does
    std::uint32_t tag = 0;             // of the signal
    std::uint64_t id = 0;              // its name
    std::size_t done = 0;              // bytes of a put that are on their way
    std::size_t missing = 0;           // bytes of a get that are not here
    memory enrolled;
    bool is_enrolled = false;
};

// An operation of another rank, for as long as it cannot be answered.
struct serving : outgoing {
    serving() noexcept : outgoing(form::serving) {}
    bool is_put = false;
    bool signals = false;
    bool direct = false; // by a transfer
    bool moving = false; // which is under way
    bool moved = false;  // it has ended, well, and is to be answered
    std::uint16_t endpoint = 0;
    std::uint32_t tag = 0;
    region_state *region = nullptr; // null: it has ended
    access_body asked{};
    std::size_t done = 0;  // bytes of a get that are on their way
    std::size_t place = 0; // among those of its rank
    transfer move;
    class one_sided *owner = nullptr;
};

// An answer that found no room.
struct reply : outgoing {
    reply() noexcept : outgoing(form::reply) {}
    one_sided_kind kind = one_sided_kind::ended;
    ended_body body{};
};

class one_sided {
  public:
    one_sided(device &on, int ranks) : on_(on), lines_(static_cast<std::size_t>(ranks)) {}
    ~one_sided();
    one_sided(const one_sided &) = delete;
    one_sided &operator=(const one_sided &) = delete;

    // Any thread; none of these suspends, but for withdraw --------------------------------------------------------

    void offer(region_state &r); // throws std::bad_alloc
    // No access begins any more, and those that are under way have ended at return.
    void withdraw(region_state &r) noexcept;
    // a.finished follows, perhaps before this returns.
    void begin(access &a) noexcept;

    // Under the device's lock -----------------------------------------------------------------------------------------

    // False: no memory for it now; nothing has changed.
    bool handle(int source, const record_view &r) noexcept;
    void retry() noexcept;
    void fail(int rank) noexcept;
    std::size_t regions() const noexcept { return regions_.count(); }
    std::size_t pending() const noexcept { return accesses_.count(); }

  private:
    struct line {
        outgoing *first = nullptr;
        outgoing *last = nullptr;
    };

    void submit(outgoing &o) noexcept; // now, or when there is room
    void push(outgoing &o) noexcept;
    line &line_of(int rank) noexcept { return lines_[static_cast<std::size_t>(rank)]; }
    bool is_clear(int rank) const noexcept { return !lines_[static_cast<std::size_t>(rank)].first; }
    bool advance(int rank) noexcept; // whether all is on its way
    bool step(outgoing &o) noexcept; // false: no room

    // The origin (origin.cpp):
    void begin_here(access &a) noexcept;
    bool step(access &a) noexcept;
    bool send_parts(access &a) noexcept;
    bool ask(access &a) noexcept;
    access *find(std::uint64_t id, int source) noexcept;
    void bytes_came(int source, std::span<const std::byte> body) noexcept;
    void parts_wanted(int source, std::uint64_t id) noexcept;
    void finish(access &a, errc failure) noexcept;

    // The target (target.cpp):
    region_state *find_region(std::uint64_t id, std::uint64_t offset, std::uint64_t size,
                              bool to_write) noexcept;
    bool put_came(int source, const record_view &r) noexcept;
    bool asked_for(int source, const record_view &r, bool is_put) noexcept;
    bool serve(int source, const access_body &asked, region_state &region, bool is_put,
               const record_view &r) noexcept;
    bool serve_at_once(int source, const access_body &asked, const region_state &region) noexcept;
    bool step(serving &s) noexcept;
    bool start(serving &s) noexcept;
    bool send_bytes(serving &s) noexcept;
    void moved(serving &s, bool well) noexcept;
    void release(serving &s) noexcept;
    bool end_moved(serving &s) noexcept;
    void retry_signals() noexcept;
    void answer(reply &r, int rank, one_sided_kind kind, const ended_body &body) noexcept;
    // False: no memory for it.
    bool answer(int rank, one_sided_kind kind, std::uint64_t id, bool refused = false) noexcept;
    bool send_reply(int rank, one_sided_kind kind, const ended_body &body) noexcept;
    bool signal(int source, std::uint16_t endpoint, std::uint32_t tag) noexcept;

    device &on_;
    id_table<region_state> regions_;
    id_table<access> accesses_;
    std::vector<serving *> servings_;
    std::vector<line> lines_;       // by rank
    std::size_t waiting_ = 0;       // lines with something in them
    serving *unsignaled_ = nullptr; // moved; there was no memory for their signals
};

} // namespace fult::comm::detail

// Memory that other ranks write and read by the calls in C: each rank has a slice of each other's memory for
// itself. Signals after their bytes, accesses that are refused, and regions that end.
#include <cstring>

#include "tests/comm/random/in_c.hpp"

namespace fult::comm::testing {
namespace {

// A region, made in C where there is such a context.
class c_region {
  public:
    c_region(scene &in, fult_comm_endpoint_t on, std::vector<std::byte> &bytes, bool writable) : in_(in) {
        if (!is_in_c()) {
            const void *const fixed = bytes.data();
            own_ = writable ? region(in.own[0], bytes.data(), bytes.size())
                            : region(in.own[0], fixed, bytes.size());
            return;
        }
        expect_status(in, "region_create",
                      writable ? fult_comm_region_create(&made_, on, bytes.data(), bytes.size())
                               : fult_comm_region_create_const(&made_, on, bytes.data(), bytes.size()),
                      FULT_SUCCESS);
    }
    ~c_region() {
        if (made_)
            expect_status(in_, "region_destroy", fult_comm_region_destroy(made_), FULT_SUCCESS);
    }
    c_region(const c_region &) = delete;
    c_region &operator=(const c_region &) = delete;
    fult_comm_remote_region remote() const {
        if (!made_) {
            const remote_region its = own_.remote();
            return {its.rank, its.writable, its.id, its.size};
        }
        fult_comm_remote_region its{};
        expect_status(in_, "region_remote", fult_comm_region_remote(made_, &its), FULT_SUCCESS);
        return its;
    }

  private:
    scene &in_;
    fult_comm_region_t made_ = nullptr;
    region own_;
};

class accesses {
  public:
    accesses(actor &by, fult_comm_endpoint_t at, std::size_t slice)
        : by_(by), in_(by.in), at_(at), slice_(slice), shadow_(slice) {}

    // Some accesses to the slice of this rank in that memory, then a look at all of it.
    void run(const fult_comm_remote_region &there, const fult_comm_remote_region &fixed) {
        const std::size_t base = static_cast<std::size_t>(in_.me.rank) * slice_;
        write(there, base, 0, slice_);
        for (int i = by_.roll.between(1, 8); i > 0; --i) {
            const std::size_t from = by_.roll.below(slice_), size = by_.roll.below(slice_ - from + 1);
            switch (by_.roll.below(5)) {
            case 0:
                write(there, base, from, size);
                break;
            case 1:
                begin_both(there, base, from, size);
                break;
            case 2:
                refuse(there, fixed);
                break;
            default:
                read(there, base, from, size);
            }
            by_.dawdle();
        }
        read(there, base, 0, slice_);
    }

  private:
    std::byte *changed(std::size_t from, std::size_t size) {
        fill(std::span(shadow_).subspan(from, size), by_.roll.next());
        return shadow_.data() + from;
    }
    void well(const char *call, int status) {
        expect_status(in_, call, status, FULT_SUCCESS);
        by_.doing(call);
    }
    void write(const fult_comm_remote_region &there, std::size_t base, std::size_t from, std::size_t size) {
        const std::byte *const part = changed(from, size);
        well("fult_comm_put", fult_comm_put(at_, part, size, &there, base + from));
    }
    void read(const fult_comm_remote_region &there, std::size_t base, std::size_t from, std::size_t size) {
        buffer b(size);
        well("fult_comm_get", fult_comm_get(at_, b.data(), size, &there, base + from));
        look(b, from);
    }
    void look(buffer &b, std::size_t from) {
        in_.expect(std::equal(b.view().begin(), b.view().end(),
                              shadow_.begin() + static_cast<std::ptrdiff_t>(from)) &&
                       !b.overrun(),
                   "a get in C does not give what was put");
    }
    // A put, and when it has ended a get, as requests.
    void begin_both(const fult_comm_remote_region &there, std::size_t base, std::size_t from,
                    std::size_t size) {
        fult_comm_request_t all[2] = {};
        const std::byte *const part = changed(from, size);
        well("fult_comm_iput", fult_comm_iput(at_, part, size, &there, base + from, &all[0]));
        std::size_t index = 7;
        well("fult_comm_wait_any", fult_comm_wait_any(all, 2, &index, nullptr));
        in_.expect(index == 0 && !all[0], "fult_comm_wait_any of a put");
        buffer b(size);
        well("fult_comm_iget", fult_comm_iget(at_, b.data(), size, &there, base + from, &all[1]));
        well("fult_comm_wait_all", fult_comm_wait_all(all, 2, nullptr, nullptr));
        in_.expect(!all[1], "fult_comm_wait_all leaves a request");
        look(b, from);
    }
    void refuse(const fult_comm_remote_region &there, const fult_comm_remote_region &fixed) {
        std::byte byte{};
        fult_comm_request_t request = nullptr;
        fult_comm_remote_region nowhere = there;
        nowhere.rank = by_.roll.chance(50) ? in_.me.size : -1;
        const auto wrong = [&](const char *call, int status) {
            expect_status(in_, call, status, FULT_ERR_INVALID);
            in_.expect(!request, "a refused access stores a request");
        };
        by_.doing("refused accesses in C");
        wrong("put behind", fult_comm_put(at_, &byte, 1, &there, there.size));
        wrong("get behind", fult_comm_get(at_, &byte, 1, &there, ~std::size_t{0}));
        wrong("put to read-only memory", fult_comm_put(at_, &byte, 1, &fixed, 0));
        wrong("put nowhere", fult_comm_put(at_, &byte, 1, nullptr, 0));
        wrong("put_signal nowhere", fult_comm_put_signal(at_, &byte, 1, &nowhere, 0, 1));
        wrong("iput behind", fult_comm_iput(at_, &byte, 1, &there, there.size, &request));
        wrong("iget of nothing", fult_comm_iget(at_, nullptr, 1, &there, 0, &request));
        wrong("iput_signal", fult_comm_iput_signal(at_, &byte, 1, &there, 0, 1, nullptr));
    }

    actor &by_;
    scene &in_;
    fult_comm_endpoint_t at_;
    const std::size_t slice_;
    std::vector<std::byte> shadow_;
};

// Each rank signals the next one, whose memory it has written before.
void signal_the_next(actor &by, fult_comm_endpoint_t at, const std::vector<fult_comm_remote_region> &all,
                     std::vector<std::byte> &mine, std::size_t slice) {
    scene &in = by.in;
    const int size = in.me.size, rank = in.me.rank, next = (rank + 1) % size,
              before = (rank + size - 1) % size;
    std::vector<std::byte> out(slice);
    fill(out, seed_of(in.seed, rank, 8));
    const std::size_t there = static_cast<std::size_t>(rank) * slice;
    const std::uint32_t tag = in.tag(3);
    const fult_comm_remote_region &to = all[static_cast<std::size_t>(next)];
    by.doing("fult_comm_put_signal");
    fult_comm_request_t request = nullptr;
    if (by.roll.chance(50)) {
        expect_status(in, "put_signal", fult_comm_put_signal(at, out.data(), slice, &to, there, tag),
                      FULT_SUCCESS);
    } else {
        expect_status(in, "iput_signal",
                      fult_comm_iput_signal(at, out.data(), slice, &to, there, tag, &request), FULT_SUCCESS);
        while (by.roll.chance(50))
            by.pause();
    }
    fult_comm_envelope envelope{};
    by.doing("fult_comm_recv of a signal");
    expect_status(in, "recv of a signal", fult_comm_recv(at, nullptr, 0, before, tag, &envelope),
                  FULT_SUCCESS);
    in.expect(envelope.size == 0 && envelope.source == before && envelope.tag == tag,
              "the envelope of a signal in C");
    const auto part = std::span(mine).subspan(static_cast<std::size_t>(before) * slice, slice);
    in.expect(first_difference(part, seed_of(in.seed, before, 8)) == slice,
              "a signal in C comes before its bytes");
    expect_status(in, "wait of iput_signal", fult_comm_wait(&request, nullptr), FULT_SUCCESS);
}

void run_memory(actor &by) {
    scene &in = by.in;
    dice d = in.shared(0);
    constexpr std::size_t slices[] = {1, 40, 1000, 9000, 70'000};
    const std::size_t slice = d.one_of(slices) + d.below(std::size_t{16}),
                      ranks = static_cast<std::size_t>(in.me.size);
    as_in_c at(in.own[0]);
    std::vector<std::byte> mine(slice * ranks), fixed(slice);
    std::vector<fult_comm_remote_region> all(ranks), readable(ranks);
    const auto together = [&](const char *call, int status) {
        by.doing(call);
        expect_status(in, call, status, FULT_SUCCESS);
    };
    {
        const c_region offered(in, at, mine, true), read_only(in, at, fixed, false);
        const fult_comm_remote_region own = offered.remote(), its = read_only.remote();
        in.expect(own.rank == in.me.rank && own.size == mine.size() && own.writable == 1 && its.writable == 0,
                  "the description of a region in C");
        together("fult_comm_allgather", fult_comm_allgather(at, &own, sizeof own, all.data()));
        together("fult_comm_allgather", fult_comm_allgather(at, &its, sizeof its, readable.data()));
        for (std::size_t i = 0; i < ranks; ++i) {
            const std::size_t to = (i + static_cast<std::size_t>(in.me.rank)) % ranks;
            accesses(by, at, slice).run(all[to], readable[to]);
        }
        together("fult_comm_barrier", fult_comm_barrier(at));
        signal_the_next(by, at, all, mine, slice);
        together("fult_comm_barrier", fult_comm_barrier(at));
    }
    together("fult_comm_barrier", fult_comm_barrier(at)); // now all regions have ended
    std::byte byte{};
    const std::size_t other = by.roll.below(ranks);
    expect_status(in, "get of a region that has ended", fult_comm_get(at, &byte, 1, &all[other], 0),
                  FULT_COMM_ERR_REFUSED);
    together("fult_comm_barrier", fult_comm_barrier(at));
}

void begin_c_one_sided(scene &in) {
    if (in.victim < 0) // losses are those of the calls in C++
        in.all->add(in, "memory in C", run_memory);
}

constexpr act_kind c_one_sided_kinds[] = {{"c_one_sided", 1, nullptr, begin_c_one_sided, nullptr}};

} // namespace

std::span<const act_kind> c_one_sided_acts() { return c_one_sided_kinds; }

} // namespace fult::comm::testing

#include "comm/endpoints/agreement.hpp"

#include <bit>
#include <stdexcept>
#include <string>

#include <fult/detail/assertion.hpp>

#include "comm/device/describe.hpp"

namespace fult::comm::detail {
namespace {

constexpr std::uint64_t mixed(std::uint64_t h) noexcept {
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93U;
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93U;
    return h ^ h >> 32;
}

std::uint64_t hash_of(const std::vector<int> &members, unsigned parent) noexcept {
    std::uint64_t h = mixed(parent + 1);
    for (const int each : members)
        h = mixed(h ^ static_cast<std::uint32_t>(each)) + each;
    return h;
}

// The first try takes the last pair of the set; later ones one of the last few.
unsigned choose(const endpoint_ids::set &common, std::uint64_t call, unsigned attempt) noexcept {
    unsigned found = 0;
    const auto some = attempt == 0 ? 1 : std::uint64_t{2} << std::min(attempt, 8U);
    auto left = static_cast<unsigned>(mixed(call + attempt) % some);
    for (unsigned pair = endpoint_ids::pairs; pair-- > 0;)
        if (endpoint_ids::has(common, pair)) {
            found = pair;
            if (left-- == 0)
                break;
        }
    return found;
}

} // namespace

// A rank that has lost a member sends on what it has, without ids: every other member gets an answer.
struct agreement::proposal {
    std::uint64_t call = 0;
    std::int32_t failure = 0; // errc
    std::int32_t failed = -1; // the member
    std::uint64_t taken = 1;  // nonzero if all have taken the pair
    endpoint_ids::set free{};
};

agreement::agreement(endpoint &ep, endpoint_ids &ids, const std::vector<int> &members, int own,
                     unsigned parent, std::uint32_t tag) noexcept
    : ep_(ep), ids_(ids), members_(members), own_(own) {
    const std::uint64_t h = hash_of(members, parent);
    call_ = mixed(h ^ tag) + tag;
    tag_ = static_cast<std::uint32_t>(h) ^ tag; // calls that differ in their tags alone never share one
}

errc agreement::exchange(const proposal &out, int to, proposal &in, int from) noexcept {
    // The receive is posted first: a send may wait for the receive of the other rank.
    try {
        request coming = ep_.irecv(&in, sizeof in, from, tag_);
        request going = ep_.isend(&out, sizeof out, to, tag_);
        errc failure = errc::none;
        going.wait(failure); // if the other has ended, it needs no answer
        coming.wait(failure);
        return failure;
    } catch (const std::bad_alloc &) {
        return errc::retry;
    }
}

void agreement::all(proposal &common) {
    const auto size = static_cast<int>(members_.size());
    common.call = call_;
    bool mixed_up = false;
    for (int distance = 1; distance < size; distance *= 2) {
        const int from = (own_ + size - distance) % size, to = (own_ + distance) % size;
        proposal theirs;
        const errc result = exchange(common, members_[static_cast<std::size_t>(to)], theirs,
                                     members_[static_cast<std::size_t>(from)]);
        mixed_up = mixed_up || (result == errc::none && theirs.call != call_);
        if (result != errc::none)
            theirs = {call_, static_cast<std::int32_t>(result), from, 0, {}};
        if (common.failure == 0 && theirs.failure != 0) {
            common.failure = theirs.failure;
            common.failed = theirs.failed;
        }
        common.taken &= theirs.taken;
        for (std::size_t i = 0; i < common.free.size(); ++i)
            common.free[i] &= theirs.free[i];
    }
    if (mixed_up)
        throw std::runtime_error("fult-comm: subset: two endpoints that are being made at once cannot be "
                                 "distinguished; give one of them another tag");
}

void agreement::fail(errc reason, int member) const {
    const std::string text =
        "fult-comm: subset: " + rank_name(member, members_[static_cast<std::size_t>(member)]) +
        (reason == errc::peer_left     ? " has left the job in good order"
         : reason == errc::peer_failed ? " has ended or cannot be reached"
                                       : " could not be heard for lack of memory") +
        "; the endpoint was not made";
    throw error(reason, text);
}

unsigned agreement::pair() {
    for (unsigned attempt = 0;; ++attempt) {
        proposal common;
        common.free = ids_.free();
        all(common);
        if (common.failure != 0)
            fail(static_cast<errc>(common.failure), common.failed);
        if (common.free == endpoint_ids::set{})
            throw std::length_error("fult-comm: subset: the members have no number of an endpoint left in "
                                    "common: a rank has no more than " +
                                    std::to_string(endpoint_ids::pairs - 2) +
                                    " endpoints at a time; destroy some, and use endpoints again");
        const unsigned chosen = choose(common.free, call_, attempt);
        const bool taken = ids_.take(chosen);
        proposal ready;
        ready.taken = taken ? 1 : 0;
        try {
            all(ready);
            if (ready.failure != 0)
                fail(static_cast<errc>(ready.failure), ready.failed);
        } catch (...) {
            if (taken)
                ids_.give(chosen);
            throw;
        }
        if (ready.taken != 0)
            return chosen;
        if (taken)
            ids_.give(chosen);
    }
}

} // namespace fult::comm::detail

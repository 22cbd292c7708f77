// The members of a new endpoint agree on its id, among themselves alone.
//
// First each learns which pairs of ids are free on all (the AND of their sets), and chooses one by a rule
// that depends on that set alone. Then each takes it, unless another endpoint that is made at the same time
// has taken it here, and all learn whether every member has. If not, they give it back and try again; other
// tries choose at random, so two calls do not hinder each other for long. No id is held while a member has
// not called yet, so calls in different orders on different ranks do not wait for each other.
//
// AND is idempotent, so each of the two is one dissemination as in a barrier: Hensgen, Finkel, Manber,
// "Two Algorithms for Barrier Synchronization", 1988. The rule for concurrent calls is simpler than that of
// MPICH, where one call at a time owns the set of ids.
#pragma once

#include <cstdint>

#include <fult/comm/endpoint.hpp>

#include "comm/device/members.hpp"
#include "comm/endpoints/endpoint_ids.hpp"

namespace fult::comm::detail {

class agreement {
  public:
    // `ep` is a plain endpoint of the whole job that nothing else uses. `parent` and `tag` are the same
    // on all members.
    agreement(endpoint &ep, endpoint_ids &ids, const std::vector<int> &members, int own, unsigned parent,
              std::uint32_t tag) noexcept;

    // Returns the pair, which has been taken. Throws std::length_error if none is free on all; comm::error if
    // a member has ended; std::runtime_error if another call cannot be distinguished from this one. May
    // suspend.
    unsigned pair();

  private:
    struct proposal;
    void all(proposal &common);
    errc exchange(const proposal &out, int to, proposal &in, int from) noexcept;
    [[noreturn]] void fail(errc reason, int member) const;

    endpoint &ep_;
    endpoint_ids &ids_;
    const std::vector<int> &members_; // their numbers in the job
    int own_;                         // position of this rank
    std::uint64_t call_;              // identifies the call among those of other members and tags
    std::uint32_t tag_;               // of its messages
};

} // namespace fult::comm::detail

// What both sides have in common: the lines of what waits for room, and what arrives.
#include "comm/one_sided/one_sided.hpp"

#include <algorithm>
#include <utility>

namespace fult::comm::detail {

one_sided::~one_sided() {
    for (auto &[rank, line] : lines_)
        for (outgoing *each = line.first; each;) {
            outgoing *const after = each->next;
            if (each->it_is == outgoing::form::reply)
                delete static_cast<reply *>(each);
            each = after;
        }
    for (serving *each : servings_)
        delete each;
}

void one_sided::push(outgoing &o) noexcept {
    line &to = lines_[o.rank];
    o.next = nullptr;
    (to.first ? to.last->next : to.first) = &o;
    to.last = &o;
    on_.one_sided_waits_ = true;
}

void one_sided::submit(outgoing &o) noexcept {
    if (!is_clear(o.rank) || !step(o)) // a step that succeeds may free it
        push(o);
}

bool one_sided::step(outgoing &o) noexcept {
    switch (o.it_is) {
    case outgoing::form::access:
        return step(static_cast<access &>(o));
    case outgoing::form::serving:
        return step(static_cast<serving &>(o));
    case outgoing::form::reply:
        break;
    }
    auto &r = static_cast<reply &>(o);
    if (!send_reply(r.rank, r.kind, r.body))
        return false;
    delete &r;
    return true;
}

bool one_sided::advance(int rank) noexcept {
    const auto found = lines_.find(rank);
    if (found == lines_.end())
        return true;
    line &to = found->second;
    while (to.first) {
        outgoing *const after = to.first->next; // a step that succeeds may free it
        if (!step(*to.first))
            return false;
        to.first = after;
    }
    lines_.erase(found);
    return true;
}

void one_sided::retry() noexcept {
    for (auto each = lines_.begin(); each != lines_.end();) {
        const int rank = each->first;
        ++each; // advance may erase it, and no other
        advance(rank);
    }
    on_.one_sided_waits_ = !lines_.empty();
}

// Everything of that rank ends. Its transfers are given up by the transport, which tells.
void one_sided::fail(int rank) noexcept {
    if (const auto found = lines_.find(rank); found != lines_.end()) {
        for (outgoing *each = found->second.first; each;) {
            outgoing *const after = each->next;
            if (each->it_is == outgoing::form::reply)
                delete static_cast<reply *>(each);
            else if (each->it_is == outgoing::form::serving)
                release(static_cast<serving &>(*each));
            each = after;
        }
        lines_.erase(found);
    }
    std::vector<access *> lost;
    accesses_.each([&](std::uint64_t, access &a) {
        if (a.rank == rank)
            lost.push_back(&a);
    });
    for (access *each : lost)
        finish(*each, errc::peer_failed);
}

void one_sided::handle(int source, const record_view &r) noexcept {
    switch (static_cast<one_sided_kind>(r.flags & one_sided_kind_bits)) {
    case one_sided_kind::put:
        put_came(source, r);
        break;
    case one_sided_kind::fetch:
        asked_for(source, r, true);
        break;
    case one_sided_kind::get:
        asked_for(source, r, false);
        break;
    case one_sided_kind::bytes:
        bytes_came(source, r.body);
        break;
    case one_sided_kind::parts:
        if (const auto body = body_as<name_body>(r.body))
            parts_wanted(source, body->id);
        break;
    case one_sided_kind::ended:
        if (const auto body = body_as<ended_body>(r.body))
            if (access *a = find(body->id, source))
                finish(*a, body->refused != 0 ? errc::refused : errc::none);
        break;
    }
}

} // namespace fult::comm::detail

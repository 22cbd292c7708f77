// Common part of origin and target: queues of what waits for packets, and dispatch of arriving records.
#include "comm/device/one_sided.hpp"

#include <utility>

#include <fult/detail/assertion.hpp>

namespace fult::comm::detail {

one_sided::~one_sided() {
    for (line &each_line : lines_)
        for (outgoing *each = each_line.first; each;) {
            outgoing *const after = each->next;
            if (each->it_is == outgoing::form::reply)
                delete static_cast<reply *>(each);
            each = after;
        }
    for (serving *each : servings_)
        delete each;
}

void one_sided::push(outgoing &o) noexcept {
    line &to = line_of(o.rank);
    FULT_ASSERT(to.first != &o && (!to.first || !to.last->next), "the last of a line has no next");
    waiting_ += to.first ? 0 : 1;
    o.next = nullptr;
    (to.first ? to.last->next : to.first) = &o;
    to.last = &o;
    sleep_.press();
}

void one_sided::submit(outgoing &o) noexcept {
    if (!is_clear(o.rank) || !step(o)) // a successful step may free it
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
    if (!core_.peers.of(r.rank).is_doomed() && !send_reply(r.rank, r.kind, r.body))
        return false;
    delete &r;
    return true;
}

bool one_sided::advance(int rank) noexcept {
    line &to = line_of(rank);
    if (!to.first)
        return true;
    while (to.first) {
        outgoing *const after = to.first->next; // a successful step may free it
        if (!step(*to.first))
            return false;
        to.first = after;
    }
    FULT_ASSERT(waiting_ != 0);
    --waiting_;
    return true;
}

void one_sided::retry() noexcept {
    retry_signals();
    std::size_t left = waiting_;
    for (std::size_t rank = 0; left != 0 && rank < lines_.size(); ++rank)
        if (lines_[rank].first) {
            advance(static_cast<int>(rank));
            --left;
        }
    FULT_ASSERT(waiting_ <= lines_.size());
}

// Ends everything of that rank, except its transfers: the transport drops those and reports it.
void one_sided::fail(int rank) noexcept {
    line &of_it = line_of(rank);
    FULT_ASSERT(waiting_ != 0 || !of_it.first);
    waiting_ -= of_it.first ? 1 : 0;
    for (outgoing *each = std::exchange(of_it.first, nullptr); each;) {
        outgoing *const after = each->next;
        if (each->it_is == outgoing::form::reply)
            delete static_cast<reply *>(each);
        else if (each->it_is == outgoing::form::serving)
            release(static_cast<serving &>(*each));
        each = after;
    }
    for (serving *each = std::exchange(unsignaled_, nullptr); each;) {
        serving &s = *each;
        each = static_cast<serving *>(s.next);
        if (s.rank == rank) {
            release(s);
        } else {
            s.next = unsignaled_;
            unsignaled_ = &s;
        }
    }
    accesses_.each([&](std::uint64_t, access &a) {
        if (a.rank == rank)
            finish(a, errc::peer_failed);
    });
}

bool one_sided::handle(int source, const record_view &r) noexcept {
    switch (static_cast<one_sided_kind>(r.flags & one_sided_kind_bits)) {
    case one_sided_kind::put:
        return put_came(source, r);
    case one_sided_kind::fetch:
        return asked_for(source, r, true);
    case one_sided_kind::get:
        return asked_for(source, r, false);
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
    return true;
}

} // namespace fult::comm::detail

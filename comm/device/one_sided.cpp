// Common part of origin and target: queues of what waits for packets, and dispatch of arriving records.
#include "comm/device/one_sided.hpp"

#include <utility>

#include <fult/detail/assertion.hpp>

namespace fult::comm::detail {

one_sided::~one_sided() {
    for (queue &each : queues_)
        while (outgoing_record *const o = each.take())
            if (o->form == outgoing_record::form_kind::reply)
                delete static_cast<reply *>(o);
    for (remote_access *each : remote_accesses_)
        delete each;
}

void one_sided::push(outgoing_record &o) noexcept {
    queue &queue = queue_of(o.rank);
    waiting_ += queue.empty() ? 1 : 0;
    queue.append(o);
    mark_waiting();
    core_.sleep.interrupt();
}

void one_sided::submit(outgoing_record &o) noexcept {
    if (!is_queue_empty(o.rank) || !step(o)) // a successful step may free it
        push(o);
}

bool one_sided::step(outgoing_record &o) noexcept {
    switch (o.form) {
    case outgoing_record::form_kind::access:
        return step(static_cast<access &>(o));
    case outgoing_record::form_kind::remote_access:
        return step(static_cast<remote_access &>(o));
    case outgoing_record::form_kind::reply:
        break;
    }
    auto &r = static_cast<reply &>(o);
    if (!core_.peers.of(r.rank).is_failing() && !send_reply(r.rank, r.kind, r.body))
        return false;
    delete &r;
    return true;
}

void one_sided::advance(queue &queue) noexcept {
    while (outgoing_record *const o = queue.take())
        if (!step(*o)) { // a successful step may free it
            queue.prepend(*o);
            return;
        }
    FULT_ASSERT(waiting_ != 0);
    --waiting_;
}

void one_sided::retry() noexcept {
    retry_signals();
    std::size_t left = waiting_;
    for (auto each = queues_.begin(); left != 0; ++each)
        if (!each->empty()) {
            advance(*each);
            --left;
        }
    mark_waiting();
    FULT_ASSERT(waiting_ <= queues_.size());
}

// Ends everything of that rank, except its transfers: the transport drops those and reports it.
void one_sided::fail(int rank) noexcept {
    queue &queue = queue_of(rank);
    FULT_ASSERT(waiting_ != 0 || queue.empty());
    waiting_ -= queue.empty() ? 0 : 1;
    while (outgoing_record *const each = queue.take())
        if (each->form == outgoing_record::form_kind::reply)
            delete static_cast<reply *>(each);
        else if (each->form == outgoing_record::form_kind::remote_access)
            release(static_cast<remote_access &>(*each));
    for (remote_access *each = std::exchange(unsignaled_accesses_, nullptr); each;) {
        remote_access &s = *each;
        each = static_cast<remote_access *>(s.next);
        if (s.rank == rank) {
            release(s);
        } else {
            s.next = unsignaled_accesses_;
            unsignaled_accesses_ = &s;
        }
    }
    mark_waiting();
    accesses_.each([&](std::uint64_t, access &a) {
        if (a.rank == rank)
            finish(a, errc::peer_failed);
    });
}

bool one_sided::handle(int source, const record_view &r) noexcept {
    switch (static_cast<one_sided_kind>(r.flags & one_sided_kind_bits)) {
    case one_sided_kind::put:
        return handle_put(source, r);
    case one_sided_kind::fetch:
        return handle_request(source, r, true);
    case one_sided_kind::get:
        return handle_request(source, r, false);
    case one_sided_kind::bytes:
        handle_bytes(source, r.body);
        break;
    case one_sided_kind::parts:
        if (const auto body = body_as<name_body>(r.body))
            handle_parts_request(source, body->id);
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

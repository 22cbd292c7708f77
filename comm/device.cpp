#include "comm/device.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>

#include <fult/this_task.hpp>

#include "comm/bells.hpp"
#include "comm/describe.hpp"
#include "comm/endpoint_state.hpp"
#include "comm/liveness.hpp"
#include "comm/match/spin.hpp"
#include "comm/one_sided/one_sided.hpp"

namespace fult::comm::detail {
device::device(const device_settings &settings, std::vector<std::unique_ptr<transport>> transports,
               std::vector<int> routes)
    : settings_(settings),
      transports_(std::move(transports)),
      peers_(std::make_unique<peer[]>(static_cast<std::size_t>(settings.size))),
      endpoints_(std::make_unique<std::atomic<endpoint_state *>[]>(most_endpoints)),
      gone_(most_endpoints, false),
      unposted_(transports_.size()),
      one_sided_(std::make_unique<one_sided>(*this, settings.size)) {
    for (const auto &each : transports_)
        limits_.push_back(each->limits());
    for (int i = 0; i < settings_.size; ++i) {
        peer &p = peer_of(i);
        p.rank = i;
        if (const int route = routes[static_cast<std::size_t>(i)]; i != settings_.rank && route >= 0) {
            p.via_index = static_cast<unsigned>(route);
            p.via = transports_[p.via_index].get();
            const transport_limits &limits = limits_[p.via_index];
            p.head = limits.guarded ? sizeof(guarded_head) : sizeof(packet_head);
            p.inject = std::min(limits.inject, settings_.packet_size);
            // An injected packet needs no buffer and causes no event.
            p.fills = p.inject >= 1024 ? p.inject : std::min(limits.message, settings_.packet_size);
        }
    }
    doomed_.reserve(static_cast<std::size_t>(settings.size));
    packet_pool_options pool;
    pool.capacity = settings_.packet_size;
    pool.packets = settings_.packets;
    pool.reserve = std::clamp<std::size_t>(settings_.packets / 4, 1, 64);
    pool.slab = std::min<std::size_t>(settings_.packets, 64);
    pool.register_memory = [this](void *base, std::size_t size, void *(&descriptor)[2]) {
        return register_slab(base, size, descriptor);
    };
    packets_ = std::make_unique<packet_pool>(std::move(pool));
    post_packets();
}

// For each transport, the packets hold its own descriptor of the slab's memory.
bool device::register_slab(void *base, std::size_t size, void *(&descriptor)[2]) noexcept {
    for (std::size_t i = 0; i < transports_.size(); ++i) {
        if (!limits_[i].local_keys)
            continue;
        memory m;
        m.base = base;
        m.size = size;
        if (!transports_[i]->register_memory(m))
            return false;
        descriptor[i] = m.descriptor;
        try {
            slabs_.push_back({i, m});
        } catch (const std::bad_alloc &) {
            transports_[i]->deregister_memory(m);
            return false;
        }
    }
    return true;
}

void device::post_packets() {
    const std::size_t each =
        std::max<std::size_t>(1, packets_->in_reserve() / std::max<std::size_t>(1, transports_.size()));
    for (std::size_t i = 0; i < transports_.size(); ++i) {
        unposted_[i].reserve(each);
        for (std::size_t k = 0; k < each; ++k) {
            packet *p = packets_->take_for_receiving();
            if (!p)
                return;
            p->kind = posted_kind::receive;
            p->capacity = static_cast<std::uint32_t>(settings_.packet_size);
            if (transports_[i]->post(*p) != outcome::done)
                unposted_[i].push_back(p);
        }
    }
}

device::~device() {
    for (auto &[index, m] : slabs_)
        transports_[index]->deregister_memory(m);
    transports_.clear();
    for (arrived *each : spare_)
        if (each)
            free_arrived(each);
    while (arrived *each = early_.take())
        free_arrived(each);
    if (sleep_descriptor_ >= 0)
        ::close(sleep_descriptor_);
    if (wake_ >= 0)
        ::close(wake_);
}

// The lock ------------------------------------------------------------------------------------------------------------

// Returns true if this thread now owns the lock. Recursive.
bool device::try_lock() noexcept {
    const void *nobody = nullptr;
    const void *me = fult::detail::this_thread();
    if (holder_.load(std::memory_order_relaxed) == me ||
        (holder_.load(std::memory_order_relaxed) == nullptr &&
         holder_.compare_exchange_strong(nobody, me, std::memory_order_acquire))) {
        ++depth_;
        return true;
    }
    return false;
}

void device::lock() noexcept {
    spin_wait wait;
    while (!try_lock())
        wait();
}

void device::unlock() noexcept {
    while (depth_ == 1 && !doomed_.empty()) {
        peer *who = doomed_.back();
        doomed_.pop_back();
        fail_now(*who);
    }
    if (--depth_ == 0)
        holder_.store(nullptr, std::memory_order_release);
}

// Endpoints -----------------------------------------------------------------------------------------------------------

void device::attach(endpoint_state &e) {
    device_lock hold(*this);
    lacking_room_.reserve(attached_ + 1);
    ++attached_;
    endpoints_[e.id].store(&e, std::memory_order_release);
    for (int i = 0; e.is_collective_context && i < settings_.size; ++i)
        if (has_failed(i))
            e.closed.store(true, std::memory_order_release);
    if (!admit_early(e))
        note_undelivered();
    if (e.closed.load(std::memory_order_relaxed))
        e.drop_messages();
}

void device::detach(endpoint_state &e) noexcept {
    device_lock hold(*this);
    endpoints_[e.id].store(nullptr, std::memory_order_release);
    gone_[e.id] = true;
    --attached_;
    early_messages undelivered = take_early(e.id);
    while (arrived *m = undelivered.take())
        discard(*m);
    slowed_ -= static_cast<unsigned>(std::erase(lacking_room_, &e));
}

std::size_t device::endpoints() const noexcept {
    std::size_t count = 0;
    for (unsigned i = 0; i < most_endpoints; ++i)
        if (const endpoint_state *e = endpoints_[i].load(std::memory_order_acquire);
            e && !e->is_collective_context)
            ++count;
    return count;
}

// Receives ------------------------------------------------------------------------------------------------------------

void device::post(receive &r) noexcept {
    if (arrived *m = r.at->post(r)) {
        meet(r, *m);
        return;
    }
    // Either fail_peer or peer_leaves finds the receive, or this sees that one of them has begun.
    const errc why = r.at->closed.load(std::memory_order_acquire) ? errc::peer_failed : hopeless(r.source);
    if (why != errc::none && r.at->remove(r)) {
        r.about.source = r.source;
        finish_receive(r, why);
    }
}

errc device::hopeless(int source) const noexcept {
    if (source < 0)
        return is_left_alone() ? why_alone() : errc::none;
    return has_failed(source) ? errc::peer_failed : has_left(source) ? errc::peer_left : errc::none;
}

bool device::cancel(receive &r) noexcept { return r.at->remove(r); }

// Failure -------------------------------------------------------------------------------------------------------------

void device::fail_peer(int rank) noexcept {
    device_lock hold(*this);
    fail_later(peer_of(rank));
}

void device::fail_later(peer &who) noexcept {
    if (!who.via || who.doomed || ignores_failures_)
        return;
    who.doomed = true;
    doomed_.push_back(&who);
}

// Ends everything that only that rank could have completed. Not called during other operations, which might
// go on to use what this ends.
void device::fail_now(peer &who) noexcept {
    if (who.failed.exchange(true, std::memory_order_seq_cst)) // pairs with post
        return;
    any_failed_.store(true, std::memory_order_release);
    if (!who.left.load(std::memory_order_relaxed))
        departed_.fetch_add(1, std::memory_order_seq_cst); // pairs with post
    if (packet *p = std::exchange(who.open, nullptr))
        packets_->give(0, *p);
    const auto take = [&](auto &list, auto next, auto of_it) {
        auto *each = std::exchange(list, nullptr);
        decltype(each) gone = nullptr;
        while (each) {
            auto *after = each->*next;
            auto &to = of_it(*each) ? gone : list;
            each->*next = to;
            to = each;
            each = after;
        }
        return gone;
    };
    take(waiting_, &sending::next, [&](const sending &s) { return s.rank == who.rank; }); // also in offered_
    for (sending *each = std::exchange(who.first, nullptr); each;) {
        sending *s = std::exchange(each, each->next);
        if (s->id == 0)
            finish_sending(*s, errc::peer_failed);
    }
    offered_.each([&](std::uint64_t, sending &s) {
        if (s.rank == who.rank)
            finish_sending(s, errc::peer_failed);
    });
    receive *halted =
        take(stalled_, &receive::next_moving, [&](const receive &r) { return r.move.rank == who.rank; });
    while (halted) {
        receive *r = halted;
        halted = r->next_moving;
        moved(r->move, false);
    }
    filling_.each([&](std::uint64_t id, receive &r) {
        if (r.about.source != who.rank)
            return;
        filling_.remove(id);
        finish_receive(r, errc::peer_failed);
    });
    for (unsigned i = 0; i < most_endpoints; ++i)
        if (endpoint_state *e = endpoints_[i].load(std::memory_order_acquire); e && e->matches()) {
            if (e->is_collective_context) { // a collective fails on all ranks: senders to this rank must not
                                            // wait for
                                            // it
                e->closed.store(true, std::memory_order_release); // pairs with post
                e->drop_messages();
            }
            end_receives(e->orphans(who.rank), who.rank, errc::peer_failed);
        }
    one_sided_->fail(who.rank);
    who.via->forget(who.rank);
    if (watch_)
        watch_->spread(who.rank);
    if (probe_listener *who = probes_.load(std::memory_order_relaxed))
        who->rank_has_gone();
}

// Progress ------------------------------------------------------------------------------------------------------------

// Retries what waits for packets or queue space.
void device::retry_all() noexcept {
    send_held_answers();
    if (one_sided_waits_)
        one_sided_->retry();
    for (receive *r = std::exchange(stalled_, nullptr); r;) {
        receive *after = r->next_moving;
        start_transfer(*r);
        r = after;
    }
    for (sending *s = std::exchange(waiting_, nullptr); s;) {
        sending *after = s->next;
        if (step(*s)) {
            finish_sending(*s, errc::none);
        } else {
            s->next = waiting_;
            waiting_ = s;
        }
        s = after;
    }
    // Completions are called meanwhile. They may send, and thereby block other peers.
    for (peer *each = std::exchange(blocked_, nullptr); each;) {
        peer &to = *std::exchange(each, each->next_blocked);
        to.blocked = false;
        advance(to);
    }
}

bool device::progress() noexcept {
    if (!try_lock())
        return false;
    if (depth_ > 1) { // from a handler
        unlock();
        return false;
    }
    flush_all();
    const bool any = poll_transports();
    if (slowed_ != 0)
        check_slowed();
    if (needs_room())
        retry_all();
    if (needs_memory()) {
        retry_deferred();
        retry_undelivered();
    }
    if (open_)
        flush_all();
    unlock();
    return any;
}

// Returns true if the grant came while nothing else was ready.
FULT_ALWAYS_INLINE bool device::wait_awake(const fult::detail::waiter &w) noexcept {
    if (w.is_granted())
        return true;
    bool granted = false;
    progress_until([&] { return granted = w.is_granted(); });
    return granted;
}

void device::wait(fult::detail::waiter &w, const fult::detail::waiting_for &what) noexcept {
    if (wait_awake(w))
        return;
    if (in_task()) // the poll has been done
        w.wait_at_once(what);
    else
        w.wait(what);
}

void device::wait(fult::detail::waiter &w, const operation &what) noexcept {
    wait(w, {nullptr, &what, [](const void *object, char *text, std::size_t size) noexcept {
                 describe_wait(*static_cast<const operation *>(object), text, size);
             }});
}

bool device::handed_over() noexcept {
    device_lock hold(*this);
    flush_all();
    return !open_ && !needs_room() && filling_.count() == 0 && under_way_ == 0;
}

bool device::quiet() noexcept {
    device_lock hold(*this);
    return handed_over() && offered_.count() == 0;
}

void device::refuse_messages() noexcept {
    device_lock hold(*this);
    refusing_ = true;
    while (arrived *m = early_.take())
        discard(*m);
    for (unsigned i = 0; i < most_endpoints; ++i)
        if (endpoint_state *e = endpoints_[i].load(std::memory_order_acquire))
            e->drop_messages();
    flush_all();
}

void device::note_refused(const status &about) noexcept {
    if (refused_.count++ == 0)
        refused_.first = about;
}

std::string device::refused_sends() noexcept {
    device_lock hold(*this);
    if (refused_.count == 0)
        return {};
    const status &first = refused_.first;
    return std::to_string(refused_.count) + " send(s) without a receive, the first one of " +
           std::to_string(first.size) + " bytes to rank " + std::to_string(first.source) + ", tag " +
           std::to_string(first.tag);
}

std::string device::pending_receives() noexcept {
    device_lock hold(*this);
    std::string text;
    const auto note = [&](std::size_t count, const std::string &what) {
        if (count != 0)
            text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + what;
    };
    for (unsigned i = 0; i < most_endpoints; ++i)
        if (endpoint_state *e = endpoints_[i].load(std::memory_order_acquire); e && e->matches())
            note(e->waiting_receives(), "receive(s) on " + endpoint_name(i));
    note(filling_.count(), "receive(s) whose message is coming in");
    note(one_sided_->pending(), "put(s) and get(s)");
    note(one_sided_->regions(), "region(s) that were not destroyed");
    return text;
}

unsigned device::show_life(int rank) noexcept {
    device_lock hold(*this);
    tell(rank, record::alive);
    flush_all();
    if (deferred_) // the packets that carry signs of life may be among them
        return peer_of(rank).quiet = 0;
    return ++peer_of(rank).quiet;
}

void device::pause() noexcept {
    if (progress())
        return;
    if (in_task() && fult::detail::others_ready()) {
        this_task::yield();
        return;
    }
    fult::detail::waiter moment;
    moment.wait(fult::detail::wait_limits(std::chrono::steady_clock::now() + std::chrono::microseconds(200)));
}

// Sleeping ------------------------------------------------------------------------------------------------------------

void device::set_bells(std::unique_ptr<doorbells> bells) {
    if (transports_.empty())
        return;
    bells_ = std::move(bells);
    sleep_descriptor_ = ::epoll_create1(EPOLL_CLOEXEC);
    wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (sleep_descriptor_ < 0 || wake_ < 0)
        throw std::system_error(errno, std::generic_category(),
                                "fult-comm: no descriptor; raise `ulimit -n`");
    patience_ = 100;
    const auto watch = [&](int fd) {
        epoll_event event{};
        event.events = EPOLLIN;
        if (fd < 0 || ::epoll_ctl(sleep_descriptor_, EPOLL_CTL_ADD, fd, &event) != 0)
            patience_ = 1;
    };
    watch(wake_);
    if (bells_) {
        watch(bells_->descriptor());
        if (!bells_->reliable())
            patience_ = 1;
    }
    for (const auto &each : transports_)
        if (const int fd = each->descriptor(); fd >= 0)
            watch(fd);
        else if (!bells_)
            patience_ = 1;
}

bool device::prepare_sleep() noexcept {
    if (bells_)
        bells_->begin_sleep();
    if (!lock_to_sleep()) { // another thread makes progress: there is work
        end_sleep();
        return false;
    }
    flush_all();
    bool calm = !poll_transports();
    for (unsigned looks = 0; calm && !transports_may_sleep(); ++looks)
        calm = looks < looks_a_step && !poll_transports(); // what arrived may not count
    pressed_ = open_ || needs_room() || needs_memory();
    asleep_.store(calm, std::memory_order_relaxed);
    unlock();
    if (!calm)
        end_sleep();
    return calm;
}

void device::end_sleep() noexcept {
    asleep_.store(false, std::memory_order_relaxed);
    eventfd_t times = 0;
    ::eventfd_read(wake_, &times);
    if (bells_)
        bells_->end_sleep();
}

void device::wake() noexcept {
    if (wake_ >= 0)
        ::eventfd_write(wake_, 1);
}

// Called after leaving work that the sleeper does not know of.
void device::press() noexcept {
    if (asleep_.exchange(false, std::memory_order_relaxed))
        wake();
}

void device::slept_out() noexcept {
    device_lock hold(*this);
    bool waits = needs_room();
    for (const peer *each = open_; each; each = each->next_open)
        waits = waits || (each->open && each->open->size != 0);
    if (waits && !pressed_ && asleep_.load(std::memory_order_relaxed))
        overslept_.fetch_add(1, std::memory_order_relaxed);
}

} // namespace fult::comm::detail

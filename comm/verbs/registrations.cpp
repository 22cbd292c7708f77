#include "comm/verbs/registrations.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <sys/resource.h>
#include <utility>

#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>

namespace fult::comm::detail {
namespace {

constexpr std::size_t max_idle = 1024;
constexpr std::size_t max_idle_bytes = std::size_t{256} << 20;

// Registered memory is locked: at most half of what this process may lock is kept without use.
std::size_t idle_limit() noexcept {
    rlimit locked{};
    if (::getrlimit(RLIMIT_MEMLOCK, &locked) != 0 || locked.rlim_cur == RLIM_INFINITY)
        return max_idle_bytes;
    return std::min(max_idle_bytes, static_cast<std::size_t>(locked.rlim_cur) / 2);
}

// The adapter itself may always write: it is what receives and reads need.
int rights_for(access_rights allowed) noexcept {
    switch (allowed) {
    case access_rights::none:
        return IBV_ACCESS_LOCAL_WRITE;
    case access_rights::read:
        return IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ;
    case access_rights::write:
        return IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
    case access_rights::read_and_write:
        break;
    }
    return IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
}

} // namespace

registrations::registrations(registrar &owner, bool pages_on_demand) noexcept
    : registrar_(owner), pages_on_demand_(pages_on_demand), max_bytes_(idle_limit()), watch_(*this) {}

// Nothing is in use any more.
registrations::~registrations() {
    std::array<registration *, buckets> all;
    registration *dead = nullptr;
    {
        const std::lock_guard hold(mutex_);
        all = std::exchange(table_, {});
        dead = std::exchange(dead_, nullptr);
    }
    for (registration *first : all)
        destroy(first);
    destroy(dead);
}

registration *&registrations::bucket_of(std::uintptr_t base, std::size_t size) noexcept {
    const std::uint64_t mixed = (base ^ size * 0x9e3779b97f4a7c15U) * 0x2545f4914f6cdd1dU;
    return table_[mixed >> 55];
}

registration *registrations::find(std::uintptr_t base, std::size_t size, int rights) noexcept {
    registration *r = bucket_of(base, size);
    while (r && (r->base != base || r->size != size || r->rights != rights))
        r = r->next;
    return r;
}

void registrations::add_idle(registration &r) noexcept {
    FULT_ASSERT(r.users == 0 && r.is_listed);
    r.newer = nullptr;
    r.older = newest_;
    (newest_ ? newest_->newer : oldest_) = &r;
    newest_ = &r;
    ++idle_;
    idle_bytes_ += r.size;
}

void registrations::remove_idle(registration &r) noexcept {
    (r.newer ? r.newer->older : newest_) = r.older;
    (r.older ? r.older->newer : oldest_) = r.newer;
    FULT_ASSERT(idle_ != 0 && idle_bytes_ >= r.size);
    --idle_;
    idle_bytes_ -= r.size;
}

void registrations::unlist(registration &r) noexcept {
    registration **at = &bucket_of(r.base, r.size);
    while (*at != &r)
        at = &(*at)->next;
    *at = r.next;
    r.next = nullptr;
    r.is_listed = false;
}

// Takes those out that are to be destroyed: dropped ones, and the oldest beyond these limits.
registration *registrations::excess(std::size_t most, std::size_t most_bytes) noexcept {
    registration *all = std::exchange(dead_, nullptr);
    while (oldest_ && (idle_ > most || idle_bytes_ > most_bytes)) {
        registration &r = *oldest_;
        remove_idle(r);
        unlist(r);
        r.next = all;
        all = &r;
    }
    return all;
}

// Without the lock.
void registrations::destroy(registration *first) noexcept {
    while (first)
        delete std::exchange(first, first->next);
}

// To be able to register other memory. Returns false if there was none.
bool registrations::drop_idle() noexcept {
    registration *all = nullptr;
    {
        const std::lock_guard hold(mutex_);
        all = excess(0, 0);
    }
    destroy(all);
    return all != nullptr;
}

region_ptr registrations::make(registration &r) noexcept {
    const auto call = [&](int rights) {
        return region_ptr(registrar_.add(fult::detail::at_address<void>(r.base), r.size, rights),
                          region_remover{&registrar_});
    };
    made_.fetch_add(1, std::memory_order_relaxed);
    if (pages_on_demand_)
        if (region_ptr made = call(r.rights | IBV_ACCESS_ON_DEMAND)) {
            r.is_cached = true;
            return made;
        }
    r.is_cached = watch_.watch(fult::detail::at_address<void>(r.base), r.size);
    region_ptr made = call(r.rights);
    if (!made && errno == ENOMEM && drop_idle())
        made = call(r.rights);
    return made;
}

registration *registrations::take(void *base, std::size_t size, access_rights allowed) noexcept {
    const std::uintptr_t begin = fult::detail::address_of(base);
    const int rights = rights_for(allowed);
    {
        const std::lock_guard hold(mutex_);
        if (registration *r = find(begin, size, rights)) {
            if (r->users++ == 0)
                remove_idle(*r);
            hits_.fetch_add(1, std::memory_order_relaxed);
            return r;
        }
    }
    std::unique_ptr<registration> made(new (std::nothrow) registration);
    if (!made) {
        errno = ENOMEM;
        return nullptr;
    }
    made->base = begin;
    made->size = size;
    made->rights = rights;
    made->users = 1;
    made->region = make(*made);
    if (!made->region)
        return nullptr;
    const std::lock_guard hold(mutex_);
    registration *&first = bucket_of(begin, size);
    made->next = first;
    made->is_listed = true;
    first = made.get();
    return made.release();
}

void registrations::give(registration &r) noexcept {
    registration *gone = nullptr;
    {
        const std::lock_guard hold(mutex_);
        FULT_ASSERT(r.users != 0);
        if (--r.users != 0)
            return;
        if (r.is_listed && r.is_cached) {
            add_idle(r);
            gone = excess(max_idle, max_bytes_);
        } else {
            if (r.is_listed)
                unlist(r);
            gone = &r;
        }
    }
    destroy(gone);
}

// By the watch's thread, which must not free memory.
void registrations::unmapped(std::uintptr_t begin, std::uintptr_t end) noexcept {
    for (registration *first : table_)
        for (registration *each = first, *after; each; each = after) {
            registration &r = *each;
            after = r.next;
            if (r.base >= end || r.base + r.size <= begin)
                continue;
            unlist(r);
            if (r.users != 0)
                continue; // destroyed after its last use
            remove_idle(r);
            r.next = dead_;
            dead_ = &r;
        }
}

} // namespace fult::comm::detail

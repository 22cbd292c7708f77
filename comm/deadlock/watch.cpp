#include "comm/deadlock/watch.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "comm/base/library_thread.hpp"
#include "comm/device/device.hpp"

namespace fult::comm::detail {
namespace {

constexpr unsigned tries = 20; // checks of a rank whose workers sleep, except briefly
constexpr auto between_tries = std::chrono::milliseconds(2);
constexpr auto max_retry_interval = std::chrono::milliseconds(50);

// A random number per rank (the finalizer of splitmix64).
std::uint64_t number_of(int rank) noexcept {
    std::uint64_t x = static_cast<std::uint64_t>(rank) + 1;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

} // namespace

deadlock_watch::deadlock_watch(const std::vector<std::unique_ptr<device>> &devices, int rank, int size)
    : devices_(devices),
      rank_(rank),
      size_(size),
      mode_(fult::detail::deadlock_wanted()),
      probes_(static_cast<std::size_t>(size)),
      rounds_(*this, rank, size, std::chrono::milliseconds(fult::detail::first_deadlock_look())),
      handled_(static_cast<std::size_t>(size)) {
    senders_.reserve(probes_.size());
    readers_.reserve(probes_.size());
    for (const auto &each : devices_)
        each->set_probe_listener(this);
    fult::detail::add_judge(*this);
}

deadlock_watch::~deadlock_watch() {
    fult::detail::remove_judge(*this);
    for (const auto &each : devices_)
        each->set_probe_listener(nullptr);
    {
        const std::lock_guard hold(mutex_);
        ending_ = true;
    }
    condition_.notify_one();
    if (thread_.joinable())
        thread_.join();
}

// Events ----------------------------------------------------------------------------------------------------

void deadlock_watch::all_wait() noexcept {
    const std::lock_guard hold(mutex_);
    all_wait_ = true;
    begin_thread();
}

void deadlock_watch::leave() noexcept {
    left_.store(true, std::memory_order_release);
    const std::lock_guard hold(mutex_);
    all_wait_ = true;
    condition_.notify_one();
}

void deadlock_watch::handle_probe(int from, const probe_body &body) noexcept {
    if (body.kind == 0 || body.kind >= probe_kinds)
        return;
    const std::lock_guard hold(mutex_);
    probe_set &its = probes_[static_cast<std::size_t>(from)];
    bool has_some = false;
    for (const probe_body &each : its)
        has_some = has_some || each.kind != 0;
    if (!has_some)
        senders_.push_back(from); // capacity for all ranks
    its[body.kind] = body;
    begin_thread();
}

void deadlock_watch::handle_departure() noexcept {
    const std::lock_guard hold(mutex_);
    departed_ = true;
    condition_.notify_one();
}

// Called under the lock.
void deadlock_watch::begin_thread() noexcept {
    condition_.notify_one();
    if (std::exchange(has_begun_, true))
        return;
    try {
        thread_ = std::thread([this] {
            const library_thread here("fult-deadlock");
            run();
        });
    } catch (const std::system_error &) {
        has_begun_ = false; // retried later, perhaps
    }
}

// The thread ------------------------------------------------------------------------------------------------

void deadlock_watch::run() noexcept {
    std::unique_lock hold(mutex_);
    while (!ending_) {
        const bool idle = !all_wait_ && !departed_ && senders_.empty();
        if (const auto next = rounds_.next(); idle && next == deadlock_rounds::clock::time_point::max())
            condition_.wait(hold);
        else if (idle && condition_.wait_until(hold, next) == std::cv_status::timeout) {
            hold.unlock();
            rounds_.handle_timeout();
            hold.lock();
        }
        const bool all_wait = std::exchange(all_wait_, false), gone = std::exchange(departed_, false);
        std::swap(readers_, senders_);
        for (const int from : readers_)
            std::swap(handled_[static_cast<std::size_t>(from)], probes_[static_cast<std::size_t>(from)]);
        hold.unlock();
        handle_probes();
        if (gone)
            rounds_.handle_departures();
        if (all_wait)
            rounds_.handle_idle();
        hold.lock();
    }
}

void deadlock_watch::handle_probes() {
    for (const int from : readers_)
        for (probe_body &each : handled_[static_cast<std::size_t>(from)])
            if (const probe_body body = std::exchange(each, probe_body{}); body.kind != 0)
                rounds_.handle_probe(from, body);
    readers_.clear();
}

// Retries until done() is true or this rank's context ends; returns false in the latter case.
template <class Done> bool deadlock_watch::until(const Done &done) noexcept {
    auto pause = std::chrono::milliseconds(1);
    while (!done()) {
        std::unique_lock hold(mutex_);
        if (ending_)
            return false;
        hold.unlock();
        std::this_thread::sleep_for(pause);
        pause = std::min(2 * pause, max_retry_interval);
    }
    return true;
}

// The environment of the rounds -----------------------------------------------------------------------------

// Sums up the traffic of the devices. False: a device is not calm.
bool deadlock_watch::sum_up(rank_state &own) noexcept {
    own = {};
    for (const auto &each : devices_) {
        const device_traffic its = each->read_traffic();
        if (!its.is_calm)
            return false;
        own.sent += its.sent;
        own.received += its.received;
    }
    for (int rank = 0; rank < size_; ++rank)
        for (const auto &each : devices_)
            if (has_failed(rank) != each->has_failed(rank))
                return false; // the other devices will know soon
            else if (each == devices_.front() && has_failed(rank))
                own.failed += number_of(rank);
    return true;
}

bool deadlock_watch::try_read_state(rank_state &own) noexcept {
    if (left_.load(std::memory_order_acquire)) {
        const bool calm = sum_up(own);
        own.has_left = true;
        return calm;
    }
    const fult::detail::stillness here;
    return here.lasts() && sum_up(own) && here.lasts();
}

// A worker that is woken by a probe, or briefly, soon sleeps again: so try several times.
rank_state deadlock_watch::read_state() noexcept {
    rank_state own;
    if (mode_ == deadlock_mode::off || fult::detail::deadlock_wanted() == deadlock_mode::off)
        return own;
    for (unsigned i = 0; i < tries; ++i) {
        if (try_read_state(own)) {
            own.is_idle = true;
            return own;
        }
        std::this_thread::sleep_for(between_tries);
    }
    return {};
}

void deadlock_watch::send(int rank, const probe_body &body) noexcept {
    until([&] { return has_failed(rank) || devices_.front()->send_probe(rank, body); });
}

bool deadlock_watch::has_failed(int rank) const noexcept {
    for (const auto &each : devices_)
        if (each->has_failed(rank))
            return true;
    return false;
}

bool deadlock_watch::has_left(int rank) const noexcept {
    if (rank == rank_)
        return left_.load(std::memory_order_acquire);
    return has_failed(rank) || devices_.front()->has_left(rank);
}

void deadlock_watch::report(int waiting) noexcept {
    char gone[64] = "", text[512];
    if (waiting != size_)
        std::snprintf(gone, sizeof gone, ", but for %d that have left or ended,", size_ - waiting);
    std::snprintf(
        text, sizeof text,
        "rank %d of %d: deadlock across ranks: every task of all %d ranks%s waits, no message is under "
        "way, and nothing else can wake one",
        rank_, size_, size_, gone);
    // The ranks do not end at the same moment; the program must not see that as failures.
    for (const auto &each : devices_)
        if (mode_ == deadlock_mode::abort)
            each->ignore_failures();
    fult::detail::report_deadlock(text);
}

void deadlock_watch::end() noexcept {
    if (mode_ == deadlock_mode::abort)
        fult::detail::abort_reported();
}

} // namespace fult::comm::detail

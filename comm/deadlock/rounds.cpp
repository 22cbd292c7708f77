#include "comm/deadlock/rounds.hpp"

#include <algorithm>
#include <utility>

#include <fult/detail/assertion.hpp>

namespace fult::comm::detail {
namespace {

constexpr std::chrono::seconds max_pause{60};
constexpr std::chrono::seconds max_report{10};

} // namespace

deadlock_rounds::deadlock_rounds(rank_environment &environment, int rank, int size,
                                 clock::duration first_pause)
    : environment_(environment),
      rank_(rank),
      others_(static_cast<std::size_t>(size)),
      first_pause_(first_pause),
      pause_(first_pause) {}

// Only the first rank that has not left asks.
bool deadlock_rounds::is_asking() const noexcept {
    for (int i = 0; i < rank_; ++i)
        if (!environment_.has_left(i))
            return false;
    return !environment_.has_left(rank_);
}

// Busy ranks send idle_now when they become idle: until then, asking is pointless.
bool deadlock_rounds::knows_busy_rank() const noexcept {
    for (std::size_t i = 0; i < others_.size(); ++i)
        if (others_[i].is_busy && !environment_.has_failed(static_cast<int>(i)))
            return true;
    return false;
}

void deadlock_rounds::handle_idle() noexcept {
    if (phase_ == phase::reports || phase_ == phase::ending) // next_ is the time limit of the reports
        return;
    if (std::any_of(others_.begin(), others_.end(), [](const other &each) { return each.awaits_idle; }))
        send_idle_now();
    begin();
}

void deadlock_rounds::send_idle_now() noexcept {
    if (!environment_.read_state().is_idle) { // it was idle only for a moment
        try_again();
        return;
    }
    for (std::size_t i = 0; i < others_.size(); ++i)
        if (std::exchange(others_[i].awaits_idle, false))
            environment_.send(static_cast<int>(i), make_probe(probe::idle_now));
}

void deadlock_rounds::begin() noexcept {
    if (phase_ == phase::none && is_asking() && !knows_busy_rank())
        begin_wave(phase::first_wave);
}

void deadlock_rounds::begin_wave(phase which) noexcept {
    FULT_ASSERT(which == phase::first_wave || which == phase::second_wave);
    next_ = clock::time_point::max();
    const rank_state own = environment_.read_state();
    if (!own.is_idle || (which == phase::second_wave && own.failed != failed_)) {
        give_up();
        return;
    }
    phase_ = which;
    ++wave_;
    asked_ = 0;
    now_ = {own.sent, own.received, own.has_left ? 0u : 1u};
    failed_ = own.failed;
    for (std::size_t i = 0; i < others_.size(); ++i) {
        const int rank = static_cast<int>(i);
        others_[i].is_asked =
            rank != rank_ && !environment_.has_failed(rank); // a failed one may still be marked
        asked_ += others_[i].is_asked ? 1 : 0;
    }
    for (std::size_t i = 0; i < others_.size(); ++i)
        if (others_[i].is_asked)
            environment_.send(static_cast<int>(i), make_probe(probe::ask, wave_));
    if (asked_ == 0)
        end_wave();
}

void deadlock_rounds::handle_probe(int from, const probe_body &body) noexcept {
    switch (static_cast<probe>(body.kind)) {
    case probe::ask:
        handle_ask(from, body);
        break;
    case probe::idle:
    case probe::busy:
        handle_answer(from, body);
        break;
    case probe::idle_now:
        others_[static_cast<std::size_t>(from)].is_busy = false;
        pause_ = first_pause_;
        begin();
        break;
    case probe::report:
        phase_ = phase::ending;
        environment_.report(static_cast<int>(body.waiting));
        environment_.send(from, make_probe(probe::reported));
        next_ = clock::now() + max_pause; // `end` arrives earlier
        break;
    case probe::reported:
        if (phase_ == phase::reports && from == reporter_)
            next_report();
        break;
    case probe::end:
        environment_.end();
        break;
    }
}

void deadlock_rounds::handle_ask(int from, const probe_body &body) noexcept {
    const rank_state own = environment_.read_state();
    others_[static_cast<std::size_t>(from)].awaits_idle = !own.is_idle;
    environment_.send(from, {static_cast<std::uint64_t>(own.is_idle ? probe::idle : probe::busy), body.wave,
                             own.sent, own.received, own.failed, own.has_left ? 0u : 1u});
}

void deadlock_rounds::handle_answer(int from, const probe_body &body) noexcept {
    other &its = others_[static_cast<std::size_t>(from)];
    if (body.wave != wave_ || !its.is_asked)
        return;
    its.is_asked = false;
    FULT_ASSERT(asked_ != 0);
    --asked_;
    its.is_busy = body.kind == static_cast<std::uint64_t>(probe::busy);
    if (phase_ != phase::first_wave && phase_ != phase::second_wave)
        return;
    // A rank that knows of another failure counts other messages.
    if (its.is_busy)
        give_up();
    else if (body.failed != failed_)
        pause();
    now_.sent += body.sent;
    now_.received += body.received;
    now_.waiting += body.waiting;
    if (phase_ != phase::none && asked_ == 0)
        end_wave();
}

void deadlock_rounds::end_wave() noexcept {
    FULT_ASSERT(asked_ == 0 && (phase_ == phase::first_wave || phase_ == phase::second_wave));
    const bool is_first = phase_ == phase::first_wave;
    const bool moved = !is_first && (now_.sent != before_.sent || now_.received != before_.received);
    if (now_.sent != now_.received || moved) {
        pause();
    } else if (is_first) {
        before_ = now_;
        begin_wave(phase::second_wave);
    } else if (now_.waiting == 0) {
        give_up(); // the job ends
    } else {
        report();
    }
}

// Later answers still show which ranks are busy.
void deadlock_rounds::give_up() noexcept { phase_ = phase::none; }

// All ranks seemed to be idle.
void deadlock_rounds::pause() noexcept {
    give_up();
    try_again();
}

void deadlock_rounds::try_again() noexcept {
    next_ = clock::now() + pause_;
    pause_ = std::min<clock::duration>(2 * pause_, max_pause);
}

void deadlock_rounds::handle_timeout() noexcept {
    next_ = clock::time_point::max();
    if (phase_ == phase::ending)
        environment_.end(); // the asking rank has ended
    else if (phase_ == phase::reports)
        next_report(); // that rank takes too long
    else
        handle_idle();
}

void deadlock_rounds::handle_departures() noexcept {
    if (phase_ == phase::reports) {
        if (environment_.has_failed(reporter_))
            next_report();
        return;
    }
    for (std::size_t i = 0; i < others_.size(); ++i)
        if (others_[i].is_asked && environment_.has_failed(static_cast<int>(i))) {
            others_[i].is_asked = false;
            FULT_ASSERT(asked_ != 0);
            --asked_;
            if (phase_ == phase::first_wave || phase_ == phase::second_wave)
                pause();
        }
    begin();
}

void deadlock_rounds::report() noexcept {
    phase_ = phase::reports;
    if (!environment_.has_left(rank_))
        environment_.report(static_cast<int>(now_.waiting));
    reporter_ = -1;
    next_report();
}

// One at a time, so that the reports are readable.
void deadlock_rounds::next_report() noexcept {
    FULT_ASSERT(phase_ == phase::reports);
    const int size = static_cast<int>(others_.size());
    do
        ++reporter_;
    while (reporter_ < size && (reporter_ == rank_ || environment_.has_left(reporter_)));
    if (reporter_ < size) {
        next_ = clock::now() + max_report;
        probe_body order = make_probe(probe::report);
        order.waiting = now_.waiting;
        environment_.send(reporter_, order);
        return;
    }
    next_ = clock::time_point::max();
    phase_ = phase::ending;
    for (int i = 0; i < size; ++i)
        if (i != rank_ && !environment_.has_failed(i))
            environment_.send(i, make_probe(probe::end));
    environment_.end();
}

} // namespace fult::comm::detail

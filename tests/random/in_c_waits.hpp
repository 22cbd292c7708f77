// The forms that a wait in C may have: without a limit, without waiting, with a time.
#pragma once

#include <cstdint>
#include <limits>

#include <fult/fult.h>

#include "program.hpp"

namespace random_programs {

// Draws one of: plain(), attempt(), for_time(nanoseconds), each of which returns a status. Whether it got
// what it waited for; a status that the form cannot have fails.
template <class Plain, class Attempt, class For>
bool got_in_c(actor &a, const char *call, const Plain &plain, const Attempt &attempt, const For &for_time) {
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                           most = std::numeric_limits<std::int64_t>::max();
    const unsigned form = a.random.below(8);
    const auto expect = [&](int status, int empty_handed) {
        check(status == FULT_SUCCESS || status == empty_handed, "%s, form %u: status %d", call, form, status);
        return status == FULT_SUCCESS;
    };
    switch (form) {
    case 0:
    case 1:
        return expect(attempt(), FULT_ERR_BUSY);
    case 2:
        return expect(for_time(std::int64_t{0}), FULT_ERR_TIMEOUT);
    case 3:
        return expect(for_time(std::int64_t{a.random.below(300'000)}), FULT_ERR_TIMEOUT);
    case 4:
        return expect(
            for_time(a.in.how.extreme_times ? a.random.one_of({std::int64_t{-1}, least, most}) : -1),
            FULT_SUCCESS);
    default:
        return expect(plain(), FULT_SUCCESS);
    }
}

// Again and again, until it got it.
template <class Plain, class Attempt, class For>
void get_in_c(actor &a, const char *call, const Plain &plain, const Attempt &attempt, const For &for_time) {
    while (!got_in_c(a, call, plain, attempt, for_time))
        a.pause();
}

// A form that the call does not have: it waits.
inline constexpr auto no_such_form = [] { return int{FULT_ERR_BUSY}; };

// An object in C, destroyed by `destroy`, which must succeed.
template <class Object> class owned_in_c {
  public:
    template <class... A>
    owned_in_c(int (*create)(Object *, A...), int (*destroy)(Object), A... arguments) : destroy_(destroy) {
        check(create(&it_, arguments...) == FULT_SUCCESS && it_, "an object in C cannot be made");
    }
    ~owned_in_c() { check(destroy_(it_) == FULT_SUCCESS, "an object in C cannot be destroyed"); }
    owned_in_c(const owned_in_c &) = delete;
    owned_in_c &operator=(const owned_in_c &) = delete;
    operator Object() const noexcept { return it_; }

  private:
    Object it_ = nullptr;
    int (*destroy_)(Object);
};

inline void expect_in_c(const char *call, int status, int wanted = FULT_SUCCESS) {
    check(status == wanted, "%s: status %d instead of %d", call, status, wanted);
}

} // namespace random_programs

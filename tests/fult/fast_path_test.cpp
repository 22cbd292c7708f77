#include <array>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <string>

#include <fult/detail/fast_path.hpp>

namespace {

using namespace fult::detail;

template <class C> using result_of = std::remove_cvref_t<decltype(std::declval<C &&>()())>;

// Runs a callable in a descriptor by hand, as the slow path of a join does, and returns the descriptor.
template <class R, class C> void run_in(task &t, C closure) {
    ::new (t.storage) C(std::move(closure));
    closure_ops<C, R>::table.run(t);
}

TEST(closure, small_callables_lie_in_the_descriptor) {
    auto small = make_closure([a = std::array<char, inline_storage>{}] { (void)a; });
    static_assert(sizeof(small) == inline_storage && fits_in_descriptor<decltype(small)>);
    auto large = make_closure([a = std::array<char, inline_storage + 1>{}] { return a.size(); });
    static_assert(sizeof(large) == sizeof(void *) && fits_in_descriptor<decltype(large)>);
    EXPECT_EQ(std::move(large)(), inline_storage + 1);
}

struct moves_may_throw {
    moves_may_throw() = default;
    moves_may_throw(moves_may_throw &&) noexcept(false) {}
    int operator()() { return 5; }
};

TEST(closure, what_may_throw_when_moved_is_boxed) {
    static_assert(!fits_in_descriptor<moves_may_throw>);
    auto boxed = make_closure(moves_may_throw{});
    static_assert(fits_in_descriptor<decltype(boxed)>);
    EXPECT_EQ(std::move(boxed)(), 5);
}

struct counted {
    static inline int alive = 0;
    int value = 0;
    counted(int v) : value(v) { ++alive; }
    counted(counted &&other) noexcept : value(other.value) { ++alive; }
    ~counted() { --alive; }
};

TEST(closure, values_are_stored_and_dropped_once) {
    task t{};
    run_in<counted>(t, [c = counted(3)] { return counted(c.value + 1); });
    EXPECT_EQ(t.result, result_kind::value);
    EXPECT_EQ(counted::alive, 1) << "the result alone; the closure is gone";
    EXPECT_EQ(stored_result<counted>::take(storage_as<counted>(t)).value, 4);
    closure_ops<decltype([] { return counted(0); }), counted>::drop(t);
    EXPECT_EQ(counted::alive, 0);
    EXPECT_EQ(t.result, result_kind::none);
}

TEST(closure, exceptions_are_stored_and_the_closure_is_gone) {
    task t{};
    const auto thrower = [c = counted(1)]() -> int {
        throw std::runtime_error("thrown " + std::to_string(c.value));
    };
    using C = std::remove_const_t<decltype(thrower)>;
    ::new (t.storage) C(std::move(const_cast<C &>(thrower)));
    closure_ops<C, int>::run(t);
    EXPECT_EQ(t.result, result_kind::exception);
    EXPECT_EQ(counted::alive, 1) << "the original outside";
    try {
        std::rethrow_exception(storage_as<std::exception_ptr>(t));
        ADD_FAILURE();
    } catch (const std::runtime_error &error) {
        EXPECT_STREQ(error.what(), "thrown 1");
    }
    closure_ops<C, int>::drop(t);
    EXPECT_EQ(t.result, result_kind::none);
}

TEST(closure, large_results_are_boxed) {
    using big = std::array<int, 100>;
    static_assert(!stored_result<big>::in_place);
    task t{};
    const auto make = [] {
        big b{};
        b[99] = 7;
        return b;
    };
    run_in<big>(t, make);
    EXPECT_EQ(stored_result<big>::take(storage_as<std::unique_ptr<big>>(t))[99], 7);
    closure_ops<std::remove_const_t<decltype(make)>, big>::drop(t);
}

TEST(closure, arguments_are_decayed_and_owned) {
    std::string text = "abc";
    auto call = make_closure([](std::string s, const char *t, int &&n) { return s + t + std::to_string(n); },
                             text, "def", 3);
    text = "changed";
    EXPECT_EQ(std::move(call)(), "abcdef3");
}

TEST(closure, result_types) {
    static_assert(std::is_same_v<spawn_result_t<int (*)()>, int>);
    static_assert(std::is_same_v<spawn_result_t<int &(*)()>, int &>);
    static_assert(std::is_same_v<spawn_result_t<int && (*)()>, int>);
    static_assert(std::is_same_v<spawn_result_t<void (*)(int), int>, void>);
}

} // namespace

#include <string>

#include "tests/sync/crowd.hpp"

namespace {

using namespace std::chrono_literals;
using fult::future;
using fult::future_errc;
using fult::future_error;
using fult::future_status;
using fult::promise;
using fult::spawn;
using fult::testing::long_time;
using fult::testing::short_time;
namespace this_task = fult::this_task;

class future_test : public fult::testing::sync_test {};
FULT_TEST_CROWDS(future_test);

// A chain: each waits for the one before.
TEST_P(future_test, values_pass_from_one_to_the_next) {
    for (std::size_t r = 0; r < fult::testing::scaled(100); ++r) {
        std::vector<promise<std::unique_ptr<int>>> promises(size() + 1);
        std::vector<future<std::unique_ptr<int>>> futures;
        for (auto &each : promises)
            futures.push_back(each.get_future());
        promises[0].set_value(std::make_unique<int>(0));
        all([&](unsigned i) {
            auto value = futures[i].get();
            ++*value;
            promises[i + 1].set_value(std::move(value));
        });
        EXPECT_EQ(*futures.back().get(), int(size()));
    }
}

TEST_P(future_test, void_references_and_exceptions) {
    promise<void> nothing;
    promise<int &> reference;
    promise<std::string> error;
    auto a = nothing.get_future();
    auto b = reference.get_future();
    auto c = error.get_future();
    int value = 3;
    auto setter = spawn([&] {
        this_task::yield();
        nothing.set_value();
        reference.set_value(value);
        error.set_exception(std::make_exception_ptr(std::runtime_error("expected")));
    });
    a.get();
    EXPECT_EQ(&b.get(), &value);
    EXPECT_THROW(c.get(), std::runtime_error);
    EXPECT_FALSE(a.valid() || b.valid() || c.valid());
    setter.join();
}

TEST_P(future_test, timed_and_stopped_waits) {
    promise<int> later;
    auto value = later.get_future();
    EXPECT_EQ(value.wait_for(short_time), future_status::timeout);
    // time: a lower bound
    EXPECT_EQ(value.wait_until(std::chrono::system_clock::now() + short_time), future_status::timeout);
    std::stop_source source;
    auto stopper = spawn([&] { source.request_stop(); });
    EXPECT_FALSE(value.wait(source.get_token()));
    stopper.join();
    auto setter = spawn([&] { later.set_value(1); });
    EXPECT_EQ(value.wait_for(long_time), future_status::ready);
    setter.join();
    EXPECT_TRUE(value.ready());
    EXPECT_EQ(value.get(), 1);
}

template <class Call> future_errc code_of(const Call &call) {
    try {
        call();
    } catch (const future_error &error) {
        return static_cast<future_errc>(error.code().value());
    }
    return {};
}

TEST(future, errors_are_the_standards) {
    promise<int> p;
    auto f = p.get_future();
    EXPECT_EQ(code_of([&] { (void)p.get_future(); }), future_errc::future_already_retrieved);
    p.set_value(1);
    EXPECT_EQ(code_of([&] { p.set_value(2); }), future_errc::promise_already_satisfied);
    EXPECT_EQ(code_of([&] { p.set_exception({}); }), future_errc::promise_already_satisfied);
    EXPECT_EQ(f.get(), 1);
    EXPECT_EQ(code_of([&] { f.wait(); }), future_errc::no_state);
    auto broken = promise<std::string>().get_future();
    EXPECT_EQ(code_of([&] { broken.get(); }), future_errc::broken_promise);
    promise<int> moved = std::move(p);
    EXPECT_EQ(code_of([&] { p.set_value(1); }), future_errc::no_state);
    promise<int>(); // without a future
    promise<int> replaced;
    auto lost = replaced.get_future();
    replaced = promise<int>();
    EXPECT_EQ(code_of([&] { lost.get(); }), future_errc::broken_promise);
}

} // namespace

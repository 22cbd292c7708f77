#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fult/blocking.hpp>
#include <fult/fult.h>
#include <fult/fult.hpp>
#include <fult/sync.hpp>

#include "tests/support/scale.hpp"
#include "tests/support/support.hpp"

namespace {

using fult::spawn;
using fult::task_local_ptr;
namespace this_task = fult::this_task;

std::atomic<int> living{0};
struct counted_value {
    int number;
    explicit counted_value(int n) : number(n) { ++living; }
    counted_value(const counted_value &other) : number(other.number + 1000) { ++living; }
    ~counted_value() { --living; }
};
void end(counted_value *value) { delete value; }
counted_value *copy(const counted_value *value) { return new counted_value(*value); }

class task_local_test : public ::testing::TestWithParam<unsigned> {
  protected:
    std::optional<fult::runtime> running{fult::testing::workers(GetParam())};
    ~task_local_test() override { EXPECT_EQ(living, 0); }
};
INSTANTIATE_TEST_SUITE_P(workers, task_local_test, ::testing::Values(1u, 2u, 3u));

TEST_P(task_local_test, each_task_has_its_own_and_it_ends_with_the_task) {
    task_local_ptr<counted_value> key(&end);
    const auto body = [&](int i) {
        EXPECT_EQ(key.get(), nullptr);
        key.set(new counted_value(i));
        for (int k = 0; k < i % 3; ++k) {
            this_task::yield();
            EXPECT_EQ(key.get()->number, i);
        }
        return key.get()->number;
    };
    for (int round = 0; round < 5; ++round) {
        std::vector<fult::handle<int>> all;
        for (int i = 0; i < 100; ++i)
            all.push_back(spawn(body, i));
        for (int i = 0; i < 100; ++i)
            EXPECT_EQ(all[std::size_t(i)].join(), i);
        EXPECT_EQ(living, 0);
    }
    EXPECT_EQ(key.get(), nullptr);
}

TEST_P(task_local_test, in_place_in_groups_and_detached) {
    task_local_ptr<counted_value> key(&end);
    key.set(new counted_value(-1));
    auto typed = spawn([&] { // a join that knows the type runs it without the descriptor's operations
        EXPECT_EQ(key.get(), nullptr);
        key.set(new counted_value(1));
        spawn([&] { key.set(new counted_value(2)); }).join();
        EXPECT_EQ(key.get()->number, 1);
        return key.get()->number;
    });
    EXPECT_EQ(typed.join(), 1);
    EXPECT_EQ(living, 1);
    EXPECT_THROW(spawn([&] {
                     key.set(new counted_value(3));
                     throw std::runtime_error("with locals");
                 }).join(),
                 std::runtime_error);
    fult::task_group group;
    for (int i = 0; i < 50; ++i)
        group.spawn([&, i] {
            EXPECT_EQ(key.get(), nullptr);
            key.set(new counted_value(i));
            if (i % 3 == 0)
                this_task::yield();
            EXPECT_EQ(key.get()->number, i);
        });
    group.wait();
    EXPECT_EQ(living, 1);
    fult::latch done(1);
    spawn([&] {
        key.set(new counted_value(4));
        done.count_down();
    }).detach();
    done.wait();
    EXPECT_EQ(key.get()->number, -1);
    running.reset(); // the main task ends, and the detached one
    EXPECT_EQ(living, 0);
}

TEST_P(task_local_test, given_at_spawn_and_inherited) {
    task_local_ptr<counted_value> own(&end), copied(&end, &copy);
    task_local_ptr<int> plain;
    int n = 5;
    own.set(new counted_value(1));
    copied.set(new counted_value(2));
    plain.set(&n);
    spawn({.inherit_locals = true}, [&] {
        EXPECT_EQ(own.get(), nullptr); // it has a destructor, and cannot be copied
        EXPECT_EQ(copied.get()->number, 1002);
        EXPECT_EQ(plain.get(), &n);
        this_task::yield();
        EXPECT_EQ(copied.get()->number, 1002);
    }).join();
    EXPECT_EQ(living, 2);
    spawn({.inherit_locals = true,
           .locals = {own.make_value(new counted_value(7)), copied.make_value(new counted_value(8))}},
          [&] {
              EXPECT_EQ(own.get()->number, 7);
              EXPECT_EQ(copied.get()->number, 8);
              EXPECT_EQ(plain.get(), &n);
          })
        .join();
    spawn([&] { EXPECT_EQ(plain.get(), nullptr); }).join();
    const auto mine = std::make_unique<counted_value>(9);
    EXPECT_THROW(
        (void)spawn({.worker = 1000, .inherit_locals = true, .locals = {own.make_value(mine.get())}}, [] {}),
        std::out_of_range); // it is still ours
    for (const bool inherits : {true, false})
        EXPECT_THROW((void)spawn({.inherit_locals = inherits,
                                  .locals = {own.make_value(mine.get()), plain.make_value(&n),
                                             own.make_value(mine.get())}},
                                 [] {}),
                     std::invalid_argument)
            << "the task could destroy only one of them";
    EXPECT_THROW((void)spawn({.locals = {own.make_value(mine.get()), {}}}, [] {}), std::invalid_argument)
        << "no key";
    EXPECT_EQ(living, 3);
    delete own.get();
    own.set(nullptr);
    delete copied.get();
    copied.set(nullptr);
}

TEST_P(task_local_test, many_keys_and_keys_that_come_again) {
    std::vector<std::unique_ptr<task_local_ptr<counted_value>>> keys;
    for (int i = 0; i < 100; ++i)
        keys.push_back(std::make_unique<task_local_ptr<counted_value>>(&end));
    spawn([&] {
        for (int i = 99; i >= 0; --i)
            keys[std::size_t(i)]->set(new counted_value(i));
        this_task::yield();
        for (int i = 0; i < 100; ++i)
            EXPECT_EQ(keys[std::size_t(i)]->get()->number, i);
        std::unique_ptr<counted_value> left(keys[0]->get());
        keys[0].reset();
        keys[0] = std::make_unique<task_local_ptr<counted_value>>(&end); // the same place, perhaps
        EXPECT_EQ(keys[0]->get(), nullptr);
    }).join();
    EXPECT_EQ(living, 0);
    EXPECT_THROW(
        {
            for (int i = 0; i < 2000; ++i)
                keys.push_back(std::make_unique<task_local_ptr<counted_value>>(&end));
        },
        std::system_error);
}

task_local_ptr<counted_value> *second_key = nullptr;
std::atomic<int> ends_late{0};
void end_late(counted_value *value) {
    ++ends_late;
    this_task::yield(); // it runs on the task, which may suspend
    if (value->number < 3)
        second_key->set(new counted_value(value->number + 1));
    delete value;
}

TEST_P(task_local_test, an_end_may_suspend_and_set_values_again) {
    task_local_ptr<counted_value> key(&end_late);
    second_key = &key;
    ends_late = 0;
    for (int i = 0; i < 10; ++i)
        spawn([&] { key.set(new counted_value(1)); }).join();
    EXPECT_EQ(ends_late, 10 * 3);
    std::vector<fult::handle<void>> all;
    for (int i = 0; i < 20; ++i)
        all.push_back(spawn([&] {
            key.set(new counted_value(0));
            this_task::yield();
        }));
    join_all(all);
    EXPECT_EQ(ends_late, 10 * 3 + 20 * 4);
    EXPECT_EQ(living, 0);
}

TEST_P(task_local_test, foreign_threads_have_theirs) {
    task_local_ptr<counted_value> key(&end);
    key.set(new counted_value(1));
    std::thread([&] {
        EXPECT_EQ(key.get(), nullptr);
        key.set(new counted_value(2));
        EXPECT_EQ(key.get()->number, 2);
    }).join();
    EXPECT_EQ(key.get()->number, 1);
    EXPECT_EQ(living, 1);
    running.reset();
    EXPECT_EQ(key.get(), nullptr); // this thread is a foreign one now
    EXPECT_EQ(living, 0);
}

using many_values = std::deque<fult::task_local<counted_value>>; // more than those that are stored near
many_values keys_of_late_users() {
    many_values keys;
    for (int i = 0; i < 20; ++i)
        keys.emplace_back([] { return counted_value(7); });
    return keys;
}

// Its destructor, which runs after those of all objects made later on the thread, uses values.
struct late_user {
    const many_values *keys = nullptr;
    std::atomic<int> *wrong = nullptr;
    late_user() = default;
    late_user(const late_user &) = delete;
    ~late_user() {
        if (!keys)
            return;
        std::vector<std::vector<std::byte>> scraps; // writes over memory that is free now
        for (int i = 0; i < 100; ++i)
            scraps.emplace_back(std::size_t(16 * (i % 40)), std::byte{0x55});
        for (int round = 0; round < 2; ++round)
            for (const auto &each : *keys)
                *wrong += each->number != 7;
        for (const auto &each : scraps)
            *wrong += std::count(each.begin(), each.end(), std::byte{0x55}) != std::ptrdiff_t(each.size());
    }
};

// The values that it uses are made again, and end with the thread.
TEST_P(task_local_test, destructors_of_thread_local_objects_may_use_values) {
    const many_values keys = keys_of_late_users();
    std::atomic<int> wrong{0};
    for (int i = 0; i < 10; ++i)
        std::thread([&] {
            static thread_local late_user user;
            user.keys = &keys;
            user.wrong = &wrong;
            for (const auto &each : keys)
                wrong += each->number != 7;
        }).join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(living, 0);
    running.reset();
}

TEST_P(task_local_test, in_c) {
    static std::atomic<int> ended{0};
    ended = 0;
    fult_key_t key = 0;
    ASSERT_EQ(fult_key_create(&key, [](void *) { ++ended; }), FULT_SUCCESS);
    EXPECT_EQ(fult_key_create(nullptr, nullptr), FULT_ERR_INVALID);
    EXPECT_EQ(fult_setspecific(0, nullptr), FULT_ERR_INVALID);
    EXPECT_EQ(fult_getspecific(key), nullptr);
    int value = 0;
    spawn([&] {
        EXPECT_EQ(fult_setspecific(key, &value), FULT_SUCCESS);
        this_task::yield();
        EXPECT_EQ(fult_getspecific(key), &value);
    }).join();
    EXPECT_EQ(ended, 1);
    EXPECT_EQ(fult_key_delete(key), FULT_SUCCESS);
    EXPECT_EQ(fult_key_delete(key), FULT_ERR_INVALID);
    EXPECT_EQ(fult_setspecific(key, &value), FULT_ERR_INVALID);
}

// Values follow their tasks through steals and hand-offs.
TEST_P(task_local_test, stress) {
    task_local_ptr<counted_value> first(&end), other(&end);
    const std::size_t rounds = fult::testing::scaled(200) + 2;
    fult::qlock lock;
    for (std::size_t round = 0; round < rounds; ++round) {
        fult::task_group group;
        for (int i = 0; i < 30; ++i)
            group.spawn([&, i] {
                if (i % 2)
                    first.set(new counted_value(i));
                for (int k = 0; k < 5; ++k) {
                    if (k % 2) {
                        this_task::yield();
                    } else {
                        const std::lock_guard guard(lock);
                        this_task::yield();
                    }
                    ASSERT_EQ(first.get() ? first.get()->number : 0, i % 2 ? i : 0);
                }
                other.set(new counted_value(i));
            });
        group.wait();
        ASSERT_EQ(living, 0);
    }
}

// A tree in which each task checks its values after every way in which another may have run on its thread
// meanwhile.
class look_again {
  public:
    void run(int depth) {
        EXPECT_EQ(near_.get(), nullptr);
        const int mine = ++numbers_;
        if (mine % 4 != 0) // else a task without values checks, too
            near_.set(new counted_value(mine));
        far_->set(new counted_value(-mine));
        const auto look = [&] {
            for (int twice = 0; twice < 2; ++twice) {
                ASSERT_EQ(near_.get() ? near_.get()->number : 0, mine % 4 != 0 ? mine : 0);
                ASSERT_EQ(far_->get()->number, -mine);
            }
        };
        look();
        if (depth == 0)
            return;
        spawn([&] { run(depth - 1); }).join(); // in place
        look();
        auto late = spawn({.name = "late"}, [&] { run(depth - 1); });
        this_task::yield(); // and by a switch, or a thief
        look();
        late.join();
        look();
        fult::task_group group;
        for (int i = 0; i < 2; ++i)
            group.spawn([&] { run(depth - 1); });
        group.wait();
        look();
        spawn([] {}).join(); // one that has no values at all
        look();
        const std::lock_guard guard(lock_);
        look();
        this_task::yield();
        look();
    }

  private:
    task_local_ptr<counted_value> near_{&end};
    std::vector<std::unique_ptr<task_local_ptr<counted_value>>> many_ = [] {
        std::vector<std::unique_ptr<task_local_ptr<counted_value>>> all;
        for (int i = 0; i < 8; ++i)
            all.push_back(std::make_unique<task_local_ptr<counted_value>>(&end));
        return all;
    }();
    task_local_ptr<counted_value> *const far_ = many_.back().get();
    std::atomic<int> numbers_{0};
    fult::qlock lock_;
};

TEST_P(task_local_test, are_the_own_ones_after_others_ran) {
    look_again tree;
    tree.run(fult::testing::sanitized || fult::testing::under_valgrind() ? 3 : 5);
    EXPECT_GT(living, 0);
    std::thread([&] { tree.run(0); }).join();
    running.reset();
}

TEST_P(task_local_test, values_are_made_when_they_are_asked_for) {
    int made = 0;
    fult::task_local<counted_value> value([&] { return counted_value(++made); },
                                          &fult::copy_value<counted_value>);
    EXPECT_FALSE(value.has_value());
    EXPECT_EQ(value->number, 1);
    EXPECT_EQ(&*value, &value.get());
    spawn([&] {
        EXPECT_FALSE(value.has_value());
        EXPECT_EQ(value->number, 2);
        value->number = 7;
        this_task::yield();
        EXPECT_EQ(value->number, 7);
        EXPECT_EQ(living, 2);
    }).join();
    EXPECT_EQ(living, 1);
    spawn({.inherit_locals = true}, [&] { EXPECT_EQ(value->number, 1001); }).join();
    std::thread([&] { EXPECT_EQ(value->number, 3); }).join();
    EXPECT_EQ(made, 3);
    running.reset();
}

TEST_P(task_local_test, values_that_cannot_be_made_are_not_there) {
    fult::task_local<counted_value> value([]() -> counted_value { throw std::runtime_error("not made"); });
    EXPECT_THROW(static_cast<void>(value.get()), std::runtime_error);
    EXPECT_FALSE(value.has_value());
    const fult::task_local<std::vector<std::unique_ptr<int>>> of_many; // appears copyable
    EXPECT_TRUE(of_many->empty());
    const fult::task_local<std::unique_ptr<int>> cannot_be_copied;
    cannot_be_copied.get() = std::make_unique<int>(1);
    spawn({.inherit_locals = true}, [&] { EXPECT_EQ(*cannot_be_copied, nullptr); }).join();
    running.reset();
}

TEST_P(task_local_test, a_copy_may_suspend) {
    struct slow {
        static counted_value *copy(const counted_value *value) {
            for (int i = 0; i < 3; ++i)
                this_task::yield();
            return new counted_value(*value);
        }
    };
    task_local_ptr<counted_value> key(&end, &slow::copy);
    std::vector<fult::handle<void>> parents;
    for (int i = 0; i < 20; ++i)
        parents.push_back(spawn([&, i] {
            key.set(new counted_value(i));
            for (std::size_t k = 0; k < fult::testing::scaled(50) + 2; ++k)
                EXPECT_EQ(spawn({.inherit_locals = true}, [&] { return key.get()->number; }).join(),
                          i + 1000);
        }));
    fult::join_all(parents);
    EXPECT_EQ(living, 0);
}

TEST_P(task_local_test, a_copy_may_set_values) {
    struct setting {
        std::deque<fult::task_local<int>> *others;
        std::vector<std::vector<std::byte>> *scraps;
        setting(std::deque<fult::task_local<int>> *o, std::vector<std::vector<std::byte>> *s)
            : others(o), scraps(s) {}
        setting(const setting &other) : setting(other.others, other.scraps) {
            for (const auto &each : *others)
                *each = 1;
            for (std::size_t size = 16; size < 4096; size += 16) // writes over the memory that is free now
                scraps->emplace_back(size, std::byte{0x55});
        }
    };
    std::vector<std::vector<std::byte>> scraps;
    const std::deque<fult::task_local<int>> before(40);
    std::deque<fult::task_local<int>> others;
    fult::task_local<setting> value([&] { return setting(&others, &scraps); }, &fult::copy_value<setting>);
    others.resize(200);
    spawn([&] {
        EXPECT_EQ(value->others, &others);
        spawn({.inherit_locals = true}, [&] { EXPECT_TRUE(value.has_value()); }).join();
    }).join();
    running.reset();
}

TEST_P(task_local_test, what_a_dropped_result_sets_ends_too) {
    task_local_ptr<counted_value> key(&end);
    struct setter {
        task_local_ptr<counted_value> *key;
        explicit setter(task_local_ptr<counted_value> *k) : key(k) {}
        setter(setter &&other) noexcept : key(std::exchange(other.key, nullptr)) {}
        setter(const setter &) = delete;
        ~setter() {
            if (key && !key->get())
                key->set(new counted_value(1));
        }
    };
    for (int i = 0; i < 20; ++i)
        spawn([&] {
            this_task::yield();
            return setter(&key);
        }).detach();
    running.reset();
    EXPECT_EQ(living, 0);
}

TEST_P(task_local_test, of_a_blocking_call_end_with_it) {
    task_local_ptr<counted_value> key(&end);
    for (int i = 0; i < 3; ++i)
        fult::run_blocking([&] {
            EXPECT_EQ(key.get(), nullptr);
            key.set(new counted_value(i));
        });
    running.reset();
    EXPECT_EQ(living, 0);
}

TEST_P(task_local_test, of_a_blocking_call_end_before_it_returns) {
    static std::atomic<int> ended{0};
    ended = 0;
    struct slow_to_end {
        ~slow_to_end() {
            std::this_thread::sleep_for(std::chrono::milliseconds(1)); // time: either order is right
            ++ended;
        }
    };
    for (int i = 0; i < 20; ++i) {
        const fult::task_local<slow_to_end> key;
        fult::run_blocking([&] { static_cast<void>(key.get()); });
        EXPECT_EQ(ended, i + 1);
    }
    running.reset();
}

// In a process of its own, which ends in the destructor of a static object made before the thread's first
// value.
TEST(task_local, destructors_of_static_objects_may_use_values) {
    const auto end_late = [] {
        static const many_values keys = keys_of_late_users();
        static std::atomic<int> wrong{0};
        static struct reporter {
            ~reporter() { std::_Exit(wrong == 0 ? 0 : 1); }
        } after_all;
        static late_user user;
        user.keys = &keys;
        user.wrong = &wrong;
        for (const auto &each : keys)
            wrong += each->number != 7;
        std::exit(2);
    };
    EXPECT_EXIT(end_late(), ::testing::ExitedWithCode(0), "");
}

} // namespace

// Task-local values where few programs have them: in destructors of values, of thread_local and of static
// objects, in calls that block. They are those of their owner, and end with it: before a join or a blocking
// call returns.
#include "late_locals.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include <fult/blocking.hpp>

#include "acts.hpp"
#include "spawning.hpp"

namespace random_programs {
namespace {

struct late_value;
using key = fult::task_local_ptr<late_value>;

// Keys that some tasks and threads use, more than those whose values are stored near; and what is left of the
// values.
struct late_keys {
    std::deque<key> all;
    std::atomic<int> living{0};

    explicit late_keys(unsigned count);
    void use(draw random) const; // now and again, with values that it makes or that are there
};

struct late_value {
    const late_keys &of;
    std::size_t at;
    std::uint64_t number;
    unsigned again; // how often its end sets another value: at most 3 in a row are ended

    late_value(const late_keys &keys, std::size_t key_at, std::uint64_t n, unsigned times)
        : of(keys), at(key_at), number(n), again(times) {
        living().fetch_add(1, std::memory_order_relaxed);
    }
    ~late_value() { living().fetch_sub(1, std::memory_order_relaxed); }
    late_value(const late_value &) = delete;
    late_value &operator=(const late_value &) = delete;
    std::atomic<int> &living() const noexcept { return const_cast<late_keys &>(of).living; }
};

void pause_at_an_end(std::uint64_t number) {
    if (number % 4 == 0 && fult::in_task())
        this_task::yield();
    else if (number % 4 == 1)
        std::this_thread::yield();
}

void end_late_value(late_value *value) {
    const std::unique_ptr<late_value> ended(value);
    pause_at_an_end(ended->number);
    if (ended->again == 0)
        return;
    const std::size_t other = ended->number % ended->of.all.size();
    const key &next = ended->of.all[other];
    if (!next.get())
        next.set(new late_value(ended->of, other, ended->number, ended->again - 1));
}

late_keys::late_keys(unsigned count) {
    for (unsigned i = 0; i < count; ++i)
        all.emplace_back(&end_late_value);
}

// Memory that was freed just now is written over, and seen again if another one writes to it.
class scraps {
  public:
    scraps() {
        for (std::size_t i = 0; i < 100; ++i)
            all_.emplace_back(16 * (i % 40), '\x55');
    }
    void check_all() const {
        for (const auto &each : all_)
            check(std::count(each.begin(), each.end(), '\x55') == static_cast<std::ptrdiff_t>(each.size()),
                  "task-local values are written to memory that is not theirs");
    }

  private:
    std::vector<std::vector<char>> all_;
};

void late_keys::use(draw random) const {
    const unsigned again = random.one_in(3) ? random.between(1, 3) : 0;
    for (unsigned i = random.between(1, 2 * static_cast<unsigned>(all.size())); i > 0; --i) {
        const std::size_t at = random.below(static_cast<unsigned>(all.size()));
        if (!all[at].get())
            all[at].set(new late_value(*this, at, random.next(), again));
        check(&all[at].get()->of == this && all[at].get()->at == at, "a task-local value is another key's");
    }
}

// Its destructor runs after those of what its thread has made later: of the values, too.
struct late_user {
    const late_keys *keys = nullptr;
    std::uint64_t seed = 0;

    late_user() = default;
    late_user(const late_user &) = delete;
    late_user &operator=(const late_user &) = delete;
    ~late_user() {
        if (!keys)
            return;
        const scraps around;
        keys->use(draw(seed));
        keys->use(draw(~seed));
        around.check_all();
    }
};

void use_at_the_thread_s_end(const late_keys &keys, std::uint64_t seed) {
    static thread_local late_user before, after;
    late_user &one = seed % 2 ? before : after;
    one.keys = &keys;
    one.seed = seed;
}

// Those that destructors of static objects use: they are never deleted.
const late_keys *lasting = nullptr;

void use_in_a_thread(const late_keys &keys, draw random) {
    if (random.one_in(2))
        use_at_the_thread_s_end(keys, random.next());
    keys.use(random);
    if (random.one_in(2))
        use_at_the_thread_s_end(keys, random.next());
}

void of_a_thread(actor &a, const late_keys &keys) {
    if (!a.in.may_start_thread())
        return;
    start_thread([&keys, own = draw(a.random.next())] { use_in_a_thread(keys, own); }).join();
    a.in.thread_ended();
}

void of_a_task(actor &a, const late_keys &keys) {
    auto task = spawn_somehow(a, [&keys, seed = a.random.next()] { keys.use(draw(seed)); });
    if (task.valid())
        task.join();
}

// The thread of the pool lives on, or ends with the runtime: what its own destructors use lasts.
void of_a_blocking_call(actor &a, const late_keys &keys) {
    auto task = spawn_somehow(a, [&keys, seed = a.random.next()] {
        keys.use(draw(seed));
        const int before = keys.living.load(std::memory_order_relaxed);
        try {
            fult::run_blocking([&] {
                for (const key &each : keys.all)
                    check(!each.get(), "a blocking call begins with another's task-local value");
                draw random(~seed);
                keys.use(random);
                if (lasting && random.one_in(2))
                    use_at_the_thread_s_end(*lasting, seed);
            });
        } catch (const std::system_error &) { // no thread to be had
        }
        check(keys.living.load(std::memory_order_relaxed) == before,
              "a blocking call has returned before its task-local values have ended");
    });
    if (task.valid())
        task.join();
}

} // namespace

void use_locals_at_the_end(std::uint64_t seed) {
    static const late_keys &keys = *new late_keys(20);
    lasting = &keys;
    static late_user user; // made before this thread has values
    draw random(seed);
    user.keys = &keys;
    user.seed = random.next();
    use_in_a_thread(keys, random);
}

namespace perform {

void late_locals(actor &a) {
    const late_keys keys(a.random.between(1, 24));
    for (unsigned i = a.random.between(1, 4); i > 0; --i) {
        constexpr void (*uses[])(actor &, const late_keys &) = {of_a_thread, of_a_task, of_a_blocking_call};
        uses[a.random.below(3)](a, keys);
        check(keys.living.load(std::memory_order_relaxed) == 0,
              "%d task-local values have not ended with their owner", keys.living.load());
    }
    if (lasting)
        lasting->use(draw(a.random.next()));
}

} // namespace perform
} // namespace random_programs

// What belongs to a task.
#include <memory>

#include "acts.hpp"
#include "spawning.hpp"

namespace random_programs::perform {

void locals(actor &a) {
    const fult::task_local_ptr<std::uint64_t> own([](std::uint64_t *value) { delete value; });
    const fult::task_local<std::vector<unsigned>> made([] { return std::vector<unsigned>(3, 7); });
    actor_group all(a, a.random.between(1, 8), [&](actor &self, unsigned number) {
        check(own.get() == nullptr, "a task begins with another's value");
        if (self.random.one_in(4))
            return;
        own.set(new std::uint64_t(number));
        if (self.random.one_in(2))
            made->push_back(number);
        for (unsigned i = self.random.below(4); i > 0; --i)
            self.pause();
        check(own.get() && *own.get() == number, "a task's value is another's");
        if (made.has_value())
            check(made->size() == 4 && made->back() == number, "a task's value is another's");
    });
    all.join(); // threads have ended, and their values with them; so have the tasks'
    check(made.has_value() == false, "the maker has a value that it has not asked for");
}

// Values given at the spawn, and those that children inherit.
void inherited_locals(actor &a) {
    if (!a.is_task())
        return;
    const fult::task_local_ptr<std::uint64_t> copied([](std::uint64_t *value) { delete value; },
                                                     &fult::copy_value<std::uint64_t>);
    const fult::task_local_ptr<std::uint64_t> shared;
    std::uint64_t target = a.random.next();
    const auto child = [&](unsigned levels, const auto &self) -> bool {
        const bool right = copied.get() && *copied.get() == target && shared.get() == &target;
        if (!right || levels == 0)
            return right;
        try {
            return fult::spawn({.inherit_locals = true}, [&] { return self(levels - 1, self); }).join();
        } catch (const std::system_error &) {
            return true;
        }
    };
    auto given = std::make_unique<std::uint64_t>(target);
    try {
        auto first = fult::spawn({.locals = {copied.make_value(given.get()), shared.make_value(&target)}},
                                 [&, levels = a.random.below(4)] { return child(levels, child); });
        (void)given.release();
        check(first.join(), "a task has not inherited its spawner's value");
    } catch (const std::system_error &) {
    }
    check(copied.get() == nullptr, "a value given to a child is its spawner's");
}

} // namespace random_programs::perform

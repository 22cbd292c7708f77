// Exceptions inside of regions and tasks, also while a task waits in a handler; class objects in tasks.
#include <atomic>
#include <omp.h>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.h"

namespace {

int recurse(int n) {
    if (n == 0)
        throw std::runtime_error("bottom");
    int result = 0;
#pragma omp task shared(result)
    {
        try {
            result = recurse(n - 1);
        } catch (const std::exception &error) {
            CHECK(error.what() == std::string("bottom"));
            result = -n;
#pragma omp task
            {
                try {
                    throw n;
                } catch (int caught) {
                    CHECK(caught == n);
                }
            }
#pragma omp taskwait
            CHECK(error.what() == std::string("bottom"));
            try {
                throw;
            } catch (const std::runtime_error &again) {
                CHECK(again.what() == error.what());
            }
        }
    }
#pragma omp taskwait
    if (n % 2)
        throw std::runtime_error("bottom");
    return result;
}

void handlers() {
    std::atomic<int> caught{0};
#pragma omp parallel
    {
        for (int i = 0; i < 100; ++i) {
#pragma omp task shared(caught)
            try {
                recurse(7);
            } catch (const std::runtime_error &) {
                ++caught;
            }
        }
        try {
            throw 5;
        } catch (int five) {
            CHECK(five == 5);
#pragma omp taskwait
            CHECK(std::uncaught_exceptions() == 0 && std::current_exception());
        }
        CHECK(!std::current_exception());
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 100; ++i)
            try {
                if (i % 3 == 0)
                    throw i;
            } catch (int) {
                ++caught;
            }
    }
    CHECK(caught == 100 * omp_get_max_threads() + 34);
}

std::atomic<int> alive{0};
struct counted {
    std::vector<int> values;
    explicit counted(int n) : values(static_cast<std::size_t>(n), n) { ++alive; }
    counted(const counted &from) : values(from.values) { ++alive; }
    ~counted() { --alive; }
};

void objects() {
    std::atomic<int> sum{0};
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 200; ++i) {
            counted c(i);
#pragma omp task firstprivate(c) shared(sum)
            sum += static_cast<int>(c.values.size());
#pragma omp task firstprivate(c) if (0)
            CHECK(c.values.size() == static_cast<std::size_t>(i));
#pragma omp task firstprivate(c) final(i % 2) depend(inout : sum)
            CHECK(c.values.empty() || c.values.back() == i);
        }
        counted c(9);
#pragma omp taskloop firstprivate(c)
        for (int i = 0; i < 100; ++i)
            CHECK(c.values.size() == 9);
        std::vector<int> v(1000, 1);
        int total = 0;
#pragma omp taskloop reduction(+ : total)
        for (auto at = v.begin(); at != v.end(); ++at)
            total += *at;
        CHECK(total == 1000);
    }
    CHECK(sum == 199 * 100);
    CHECK(alive == 0);
}

} // namespace

int main() {
    handlers();
    objects();
    return 0;
}

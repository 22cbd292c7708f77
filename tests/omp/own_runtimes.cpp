// Runtimes of the program's own, one after the other, with regions before, in, between and after them:
// regions find each as it is. Each order runs in a process of its own, as the runtime that a region starts
// stays. Run with several OMP_NUM_THREADS.
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <omp.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fult/fult.h>
#include <fult/fult.hpp>

namespace {

#define CHECK(CONDITION)                                                             \
    do {                                                                             \
        if (!(CONDITION)) {                                                          \
            std::fprintf(stderr, "%s:%d: not %s\n", __FILE__, __LINE__, #CONDITION); \
            std::_Exit(1);                                                           \
        }                                                                            \
    } while (0)

int fib(int n) {
    if (n < 2)
        return n;
    int a = 0, b = 0;
#pragma omp task shared(a)
    a = fib(n - 1);
#pragma omp task shared(b)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

// A team with what teams keep from one region to the next: loops, singles, barriers, tasks.
void region(int size) {
    int members = 0, sum = 0, result = 0, team = 0;
#pragma omp parallel num_threads(size) reduction(+ : members, sum)
    {
        ++members;
#pragma omp for schedule(dynamic) nowait
        for (int i = 0; i < 20; ++i)
            ++sum;
#pragma omp barrier
#pragma omp single
        {
            team = omp_get_num_threads();
            result = fib(8);
        }
    }
    CHECK(members == team && team >= 1 && team <= size);
    CHECK(sum == 20 && result == 21);
}

void regions() {
    for (const int size : {3, 1, 8, 2})
        region(size);
}

void of_threads(int count) {
    std::vector<std::thread> all;
    for (int i = 0; i < count; ++i)
        all.emplace_back(regions);
    for (std::thread &each : all)
        each.join();
}

void of_tasks(int count) {
    std::vector<fult::handle<void>> all;
    for (int i = 0; i < count; ++i)
        all.push_back(fult::spawn([] { region(3); }));
    fult::join_all(all);
}

void use_all() {
    regions();
    of_threads(2);
    of_tasks(3);
}

// One that a region has started is not the program's to end.
void expect_refused() {
    CHECK(fult_finalize() == FULT_ERR_NO_RUNTIME);
    CHECK(std::strstr(fult_last_error(), "was not started by fult_init") != nullptr);
    CHECK(fult::worker_count() != 0);
    CHECK(fult_init(nullptr) == FULT_ERR_RUNNING);
    CHECK(std::strstr(fult_last_error(), "omp_pause_resource_all") != nullptr);
    regions();
}

// The running one, if any, is OpenMP's and ends by a pause.
void make_room() {
    if (fult::worker_count() == 0)
        return;
    expect_refused();
    CHECK(omp_pause_resource_all(omp_pause_hard) == 0);
    CHECK(fult::worker_count() == 0);
}

void in_c(unsigned workers) {
    fult_config config = FULT_CONFIG_INIT;
    config.workers = workers;
    CHECK(fult_init(&config) == FULT_SUCCESS);
    use_all();
    CHECK(fult::worker_count() == static_cast<int>(workers));
    CHECK(fult_finalize() == FULT_SUCCESS);
}

fult::options options_of(unsigned workers) {
    fult::options o = fult::read_options();
    o.workers = workers;
    return o;
}

void in_cpp(unsigned workers) {
    const fult::runtime mine(options_of(workers));
    use_all();
    CHECK(fult_finalize() == FULT_ERR_NO_RUNTIME);
    use_all();
}

// `before`, `between`, `after`: threads of a region there; 0: none.
struct order {
    unsigned first, second;
    int before, between, after;
};

void run(const order &o) {
    if (o.before != 0)
        region(o.before);
    make_room();
    in_c(o.first);
    if (o.between != 0)
        region(o.between);
    make_room();
    in_cpp(o.second);
    if (o.after != 0)
        region(o.after);
    of_threads(2);
    regions();
    expect_refused();
}

// Threads of the program open regions while its own runtime ends: these are in it, or in the one that
// follows.
void run_beside(unsigned workers) {
    std::atomic<bool> over{false};
    std::atomic<int> opened{0};
    std::vector<std::thread> all;
    {
        const fult::runtime mine(options_of(workers));
        for (int i = 0; i < 2; ++i)
            all.emplace_back([&] {
                while (!over.load()) {
                    region(3);
                    opened.fetch_add(1);
                }
            });
        while (opened.load() < 4)
            fult::this_task::yield();
    }
    const int then = opened.load();
    while (opened.load() < then + 4)
        std::this_thread::yield();
    over = true;
    for (std::thread &each : all)
        each.join();
    regions();
}

// A serial region uses no worker: the end does not wait for it.
void run_beside_serial(unsigned workers) {
    std::atomic<bool> open{false}, ended{false};
    auto mine = std::make_unique<fult::runtime>(options_of(workers));
    region(2);
    std::thread other([&] {
#pragma omp parallel num_threads(1)
        {
            open = true;
            while (!ended.load())
                std::this_thread::yield();
        }
        regions();
    });
    while (!open.load())
        std::this_thread::yield();
    mine.reset();
    ended = true;
    other.join();
    regions();
}

void end_in_region() {
    const int nowhere = ::open("/dev/null", O_WRONLY);
    ::dup2(nowhere, STDERR_FILENO);
    fult_config config = FULT_CONFIG_INIT;
    config.workers = 2;
    CHECK(fult_init(&config) == FULT_SUCCESS);
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0)
        fult_finalize();
}

template <class Body> int status_of(const Body &body) {
    const pid_t child = ::fork();
    CHECK(child >= 0);
    if (child == 0) {
        body();
        std::exit(0);
    }
    int status = -1;
    CHECK(::waitpid(child, &status, 0) == child);
    return status;
}
template <class Body> void in_process(const Body &body) { CHECK(status_of(body) == 0); }

} // namespace

int main() {
    constexpr std::array<unsigned, 3> workers{1, 2, 4};
    constexpr std::array<int, 4> sizes{0, 1, 3, 8};
    unsigned turn = 0;
    for (const unsigned first : workers)
        for (const unsigned second : workers)
            for (int i = 0; i < 4; ++i, ++turn)
                in_process([&] {
                    run({first, second, sizes[turn % 4], sizes[turn / 2 % 4], sizes[(turn / 3 + 1) % 4]});
                });
    for (const unsigned count : workers)
        for (int round = 0; round < 5; ++round) {
            in_process([&] { run_beside(count); });
            in_process([&] { run_beside_serial(count); });
        }
    const int status = status_of(end_in_region);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    return 0;
}

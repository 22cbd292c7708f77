// Tasks of the C++ interface, in a program that is linked with the layer; and threads that call MPI beside
// them.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fult/blocking.hpp>
#include <fult/fult.hpp>
#include <fult/inspect.hpp>

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <fult/mpi.hpp>

#include "check_mpi.h"
#include "tests/support/scale.hpp"

namespace {

int rank = -1, size = 0;
#if !defined(FULT_TEST_SANITIZED) // which has its own allocator
constexpr bool counts_allocations = true;
#else
constexpr bool counts_allocations = false;
#endif
thread_local int allocated = 0; // by the calling thread

int next_rank() { return (rank + 1) % size; }
int rank_before() { return (rank + size - 1) % size; }

// A ring of all ranks and many tasks: task i of a rank passes on to task i of the next one.
void ring_of_tasks() {
    constexpr int tasks = 200;
    std::atomic<int> right{0};
    std::vector<fult::handle<void>> all;
    for (int i = 0; i < tasks; ++i)
        all.push_back(fult::spawn([i, &right] {
            int ball = i;
            if (rank == 0)
                CHECK_MPI(MPI_Send(&ball, 1, MPI_INT, next_rank(), i, MPI_COMM_WORLD));
            CHECK_MPI(MPI_Recv(&ball, 1, MPI_INT, rank_before(), i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            right += ball == i;
            if (rank != 0)
                CHECK_MPI(MPI_Send(&ball, 1, MPI_INT, next_rank(), i, MPI_COMM_WORLD));
        }));
    fult::join_all(all);
    CHECK(right == tasks);
}

// Of pmodels/mpich 3861: tasks that send and then receive, against tasks that receive and then send, begun in
// the opposite order.
void opposite_orders() {
    constexpr int pairs = 8;
    const int other = 1 - rank;
    std::vector<fult::handle<void>> all;
    for (int k = 0; k < pairs; ++k)
        all.push_back(fult::spawn([i = rank == 0 ? k : pairs - 1 - k, other] {
            int got = -1;
            if (rank == 0)
                CHECK_MPI(MPI_Ssend(&i, 1, MPI_INT, other, i, MPI_COMM_WORLD));
            CHECK_MPI(MPI_Recv(&got, 1, MPI_INT, other, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            if (rank != 0)
                CHECK_MPI(MPI_Ssend(&i, 1, MPI_INT, other, i, MPI_COMM_WORLD));
            CHECK(got == i);
        }));
    fult::join_all(all);
}

// Threads outside the runtime beside tasks.
void threads_and_tasks() {
    constexpr int messages = 50;
    const auto exchange = [](int tag) {
        for (int i = 0; i < messages; ++i) {
            int got = -1;
            CHECK_MPI(MPI_Sendrecv(&i, 1, MPI_INT, next_rank(), tag, &got, 1, MPI_INT, rank_before(), tag,
                                   MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK(got == i);
        }
    };
    std::vector<std::thread> threads;
    std::vector<fult::handle<void>> tasks;
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back(exchange, i);
        tasks.push_back(fult::spawn(exchange, 10 + i));
    }
    fult::join_all(tasks);
    fult::run_blocking([&] {
        for (std::thread &each : threads)
            each.join();
    });
}

// A task that goes on beside its operations, and waits for their futures.
void futures() {
    constexpr int count = 20;
    auto receiver = fult::spawn([] {
        MPI_Request one = MPI_REQUEST_NULL;
        std::vector<MPI_Request> all(count, MPI_REQUEST_NULL); // the last one remains null
        std::vector<MPI_Status> statuses(count);
        std::vector<int> got(count, -1);
        MPI_Status status;
        for (int i = 0; i + 1 < count; ++i)
            CHECK_MPI(
                MPI_Irecv(&got[std::size_t(i)], 1, MPI_INT, rank, i, MPI_COMM_WORLD, &all[std::size_t(i)]));
        CHECK_MPI(MPI_Irecv(&got.back(), 1, MPI_INT, rank, count, MPI_COMM_WORLD, &one));
        fult::future<int> of_one = fult::mpi::iwait(one, &status),
                          of_all = fult::mpi::iwait(all, statuses.data());
        CHECK(one == MPI_REQUEST_NULL && all.front() == MPI_REQUEST_NULL);
        CHECK(of_one.get() == MPI_SUCCESS && status.MPI_TAG == count && got.back() == count);
        CHECK(of_all.get() == MPI_SUCCESS);
        for (int i = 0; i + 1 < count; ++i)
            CHECK(got[std::size_t(i)] == i && statuses[std::size_t(i)].MPI_TAG == i);
    });
    for (int i = count; i >= 0; --i)
        if (i != count - 1)
            CHECK_MPI(MPI_Ssend(&i, 1, MPI_INT, rank, i, MPI_COMM_WORLD));
    receiver.join();
    CHECK(fult::mpi::iwait(std::span<MPI_Request>()).get() == MPI_SUCCESS);
}

// Errors of requests are those of the futures. The message is too long for its receive.
void failing_future() {
    MPI_Comm own;
    CHECK_MPI(MPI_Comm_dup(MPI_COMM_SELF, &own));
    CHECK_MPI(MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN));
    CHECK_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)); // MPICH 4.0 asks that of the world
    const int out[2] = {1, 2};
    int in = -1, kind = -1;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    CHECK_MPI(MPI_Isend(out, 2, MPI_INT, 0, 1, own, &requests[0]));
    CHECK_MPI(MPI_Irecv(&in, 1, MPI_INT, 0, 1, own, &requests[1]));
    CHECK(fult::mpi::iwait(requests, statuses).get() == MPI_ERR_IN_STATUS);
    CHECK_MPI(MPI_Error_class(statuses[1].MPI_ERROR, &kind));
    CHECK(statuses[0].MPI_ERROR == MPI_SUCCESS && kind == MPI_ERR_TRUNCATE);
    CHECK_MPI(MPI_Isend(out, 2, MPI_INT, 0, 1, own, &requests[0]));
    CHECK_MPI(MPI_Irecv(&in, 1, MPI_INT, 0, 1, own, &requests[1]));
    CHECK_MPI(MPI_Error_class(fult::mpi::iwait(requests[1]).get(), &kind));
    CHECK(kind == MPI_ERR_TRUNCATE && fult::mpi::iwait(requests[0]).get() == MPI_SUCCESS);
    CHECK_MPI(MPI_Comm_free(&own));
}

void note(std::uintptr_t flag) { reinterpret_cast<std::atomic<bool> *>(flag)->store(true); }

// Requests that are given away: one allocation for one, and two for any number. No other thread is there.
void allocations() {
    constexpr int count = 20;
    std::atomic<bool> one_ended{false}, all_ended{false};
    std::array<MPI_Request, count> all;
    MPI_Request one = MPI_REQUEST_NULL;
    std::array<int, count> got{};
    const auto receive_one = [&](int tag, MPI_Request &request) {
        CHECK_MPI(MPI_Irecv(&got[0], 1, MPI_INT, rank, tag, MPI_COMM_WORLD, &request));
    };
    const auto send_one = [&](int tag) { CHECK_MPI(MPI_Send(&tag, 1, MPI_INT, rank, tag, MPI_COMM_WORLD)); };
    const auto wait_for = [](const std::atomic<bool> &ended) {
        while (!ended)
            CHECK_MPI(MPI_Barrier(MPI_COMM_SELF));
    };
    for (int turn = 0; turn < 2; ++turn) { // the first one makes room in tables
        one_ended = all_ended = false;
        receive_one(count, one);
        for (int i = 0; i < count; ++i)
            receive_one(i, all[std::size_t(i)]);
        const int before = allocated;
        CHECK_MPI(fult_mpi_on_completion(&one, MPI_STATUS_IGNORE, note, std::uintptr_t(&one_ended)));
        const int for_one = allocated - before;
        CHECK_MPI(fult_mpi_on_completion_of_all(count, all.data(), MPI_STATUSES_IGNORE, note,
                                                std::uintptr_t(&all_ended)));
        CHECK(turn == 0 || !counts_allocations || (for_one == 1 && allocated - before == 3));
        CHECK(one == MPI_REQUEST_NULL && all.back() == MPI_REQUEST_NULL);
        for (int i = 0; i < count; ++i)
            send_one(i);
        CHECK(!one_ended);
        wait_for(all_ended);
        CHECK(!one_ended);
        send_one(count);
        wait_for(one_ended);
    }
}

// What a waiting task waits for is visible.
void described_wait() {
    auto receiver = fult::spawn([] {
        int got = -1;
        CHECK_MPI(MPI_Recv(&got, 1, MPI_INT, rank, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        return got;
    });
    bool found = false;
    while (!found) {
        fult::visit_tasks([&](const fult::task_description &about) {
            found = found ||
                    (about.waits_for && std::string_view(about.waits_for) == "MPI_Recv" && about.detail &&
                     std::string_view(about.detail) ==
                         "from rank " + std::to_string(rank) + ", tag 77, MPI_COMM_WORLD");
        });
        fult::this_task::yield();
    }
    const int out = 5;
    CHECK_MPI(MPI_Send(&out, 1, MPI_INT, rank, 77, MPI_COMM_WORLD));
    CHECK(receiver.join() == out);
}

} // namespace

#if !defined(FULT_TEST_SANITIZED)
// Inlined, the compiler sees that free() ends what operator new made, and warns.
[[gnu::noinline]] void *operator new(std::size_t size) {
    ++allocated;
    if (void *const memory = std::malloc(size))
        return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void *memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }
#endif

int main(int count, char **arguments) {
    int provided = -1;
    CHECK_MPI(MPI_Init_thread(&count, &arguments, MPI_THREAD_FUNNELED, &provided));
    CHECK(provided == MPI_THREAD_FUNNELED);
    CHECK_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CHECK_MPI(MPI_Comm_size(MPI_COMM_WORLD, &size));
    allocations();
    for (const unsigned workers : {1u, 2u}) {
        fult::options how = fult::read_options();
        how.workers = workers;
        const fult::runtime runtime(how);
        ring_of_tasks();
        if (size == 2)
            opposite_orders();
        threads_and_tasks();
        futures();
        described_wait();
    }
    fult::runtime last;
    failing_future(); // from here on errors are returned
    CHECK_MPI(MPI_Finalize());
}

// An MPI, with a kernel thread for each task; bench/mpi/task_connection.hpp has tasks instead.
#pragma once

// Their C++ bindings, which left the standard in 2012, would want libraries of their own.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <span>
#include <thread>
#include <vector>

#include "comm/ranks.hpp"

namespace bench {

class mpi_connection {
  public:
    using request = MPI_Request;
    static constexpr const char *version = FULT_BENCH_MPI;

    explicit mpi_connection(bool threads) {
        const int wanted = threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
        int given = wanted, size = 0;
        MPI_Init_thread(nullptr, nullptr, wanted, &given);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        if (size != 2 || given < wanted) {
            std::fprintf(stderr, size != 2 ? "two ranks are needed: mpiexec -n 2 program\n"
                                           : "this MPI has no MPI_THREAD_MULTIPLE\n");
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
        source_ = 1 - rank_;
    }
    ~mpi_connection() { MPI_Finalize(); }
    mpi_connection(const mpi_connection &) = delete;
    mpi_connection &operator=(const mpi_connection &) = delete;

    int rank() const noexcept { return rank_; }
    static unsigned workers() noexcept { return 1; }

    void send(const void *data, std::size_t size, unsigned tag) {
        MPI_Send(data, int(size), MPI_BYTE, 1 - rank_, int(tag), MPI_COMM_WORLD);
    }
    void recv(void *data, std::size_t size, unsigned tag) {
        MPI_Recv(data, int(size), MPI_BYTE, source_, int(tag), MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    request isend(const void *data, std::size_t size, unsigned tag) {
        MPI_Request result;
        MPI_Isend(data, int(size), MPI_BYTE, 1 - rank_, int(tag), MPI_COMM_WORLD, &result);
        return result;
    }
    request irecv(void *data, std::size_t size, unsigned tag) {
        MPI_Request result;
        MPI_Irecv(data, int(size), MPI_BYTE, source_, int(tag), MPI_COMM_WORLD, &result);
        return result;
    }
    static void wait_all(std::span<request> all) {
        MPI_Waitall(int(all.size()), all.data(), MPI_STATUSES_IGNORE);
    }

    void use_wildcards() { source_ = MPI_ANY_SOURCE; }

    template <class Function> void tasks(unsigned long n, Function function) {
        if (n == 1)
            return function(0UL);
        std::vector<std::thread> all;
        for (unsigned long k = 0; k < n; ++k)
            all.emplace_back(function, k);
        for (std::thread &each : all)
            each.join();
    }

    unsigned long agree(unsigned long value) {
        MPI_Bcast(&value, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
        return value;
    }

  private:
    int rank_ = 0;
    int source_ = 0;
};

} // namespace bench

// The processes of a program by MPI calls alone.
#pragma once

#include <exception>
#include <mpi.h>

namespace apps {

class mpi_processes {
  public:
    mpi_processes() {
        MPI_Init(nullptr, nullptr);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
    }
    mpi_processes(const mpi_processes &) = delete;
    mpi_processes &operator=(const mpi_processes &) = delete;
    // After a failure the others may still wait for this process: it exits without MPI_Finalize, which would
    // wait for them, and so the launcher ends them.
    ~mpi_processes() {
        if (std::uncaught_exceptions() == 0)
            MPI_Finalize();
    }

    int rank() const { return rank_; }
    int size() const { return size_; }

  private:
    int rank_ = 0, size_ = 0;
};

} // namespace apps

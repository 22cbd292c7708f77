// Puts of 8 bytes to 1 MiB into the memory of the other rank, by ten tasks of each rank at once; each waits
// for its own: microseconds of a rank for a put. In MPI a put and MPI_Win_flush, by ten threads.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "comm/connection.hpp"

#ifndef FULT_BENCH_MPI
#include <fult/global.hpp>
#endif

namespace {
using namespace bench;

constexpr unsigned long tasks = 10;
const std::vector<unsigned long> sizes{8, 64, 512, 4096, 16384, 131072, 1 << 20};

// Memory of each rank into which the other one puts. Made and destroyed by both ranks together.
#ifdef FULT_BENCH_MPI
class exposed_memory {
  public:
    exposed_memory(connection &here, std::size_t bytes) : bytes_(bytes), other_(1 - here.rank()) {
        MPI_Win_allocate(MPI_Aint(bytes), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base_, &window_);
        MPI_Win_lock_all(0, window_);
    }
    ~exposed_memory() {
        MPI_Win_unlock_all(window_);
        MPI_Win_free(&window_);
    }
    exposed_memory(const exposed_memory &) = delete;
    exposed_memory &operator=(const exposed_memory &) = delete;

    void put(std::size_t offset, std::span<const std::byte> bytes) {
        const int count = int(bytes.size());
        MPI_Put(bytes.data(), count, MPI_BYTE, other_, MPI_Aint(offset), count, MPI_BYTE, window_);
        MPI_Win_flush(other_, window_);
    }
    std::span<const std::byte> own() {
        MPI_Win_sync(window_);
        return {base_, bytes_};
    }

  private:
    std::size_t bytes_;
    int other_;
    std::byte *base_ = nullptr;
    MPI_Win window_{};
};
#else
class exposed_memory {
  public:
    exposed_memory(connection &here, std::size_t bytes)
        : memory_(here.world(), {.heap = bytes + 4096}),
          bytes_(memory_, 2 * bytes), // a block for each rank
          there_(bytes_.pointer(here.rank() == 0 ? bytes : 0)) {}

    void put(std::size_t offset, std::span<const std::byte> bytes) {
        memory_.put(there_ + std::ptrdiff_t(offset), bytes);
    }
    std::span<const std::byte> own() { return bytes_.local(); }

  private:
    fult::global::memory memory_;
    fult::global::global_vector<std::byte> bytes_;
    fult::global::global_ptr<std::byte> there_;
};
#endif

// Both ranks have come here.
void meet(connection &here) {
    std::uint64_t word = 0;
    auto sent = here.isend(&word, sizeof word, 1);
    std::uint64_t other = 0;
    here.recv(&other, sizeof other, 1);
    connection::wait_all({&sent, 1});
}

void put_all(connection &here, exposed_memory &memory, std::size_t size, unsigned long rounds) {
    here.tasks(tasks, [&](unsigned long task) {
        std::vector<std::byte> bytes(size);
        for (unsigned long k = 0; k < rounds; ++k) {
            stamp(bytes, task + k);
            memory.put(task * size, bytes);
        }
    });
    meet(here);
    for (unsigned long task = 0; task < tasks; ++task)
        check(memory.own().subspan(task * size, size), task + rounds - 1);
    meet(here);
}
} // namespace

int main(int argc, char **argv) {
    patience wanted;
    wanted.fewest = 10; // starting the tasks is a small part then
    arguments line("comm_put: puts into the other rank's memory, by ten tasks of each rank; microseconds.");
    wanted.declare(line);
    line.parse(argc, argv);
    connection here(true);
    for (const unsigned long size : sizes) {
        exposed_memory memory(here, tasks * size);
        const double round =
            seconds_a_round(here, wanted, [&](unsigned long rounds) { put_all(here, memory, size, rounds); });
        if (here.rank() == 0)
            report({"comm_put", size_text(size), connection::version, connection::workers(),
                    round * 1e6 / double(tasks), "us"});
    }
}

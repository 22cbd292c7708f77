// Ranks as processes of one host, for tests and measurements of a transport: fork, exchange addresses, meet.
#pragma once

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <new>
#include <sched.h>
#include <span>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "comm/fabric/fabric.hpp"

namespace fabric_ranks {

using namespace fult::comm::detail;

inline constexpr int most_ranks = 8;

// Shared memory of all ranks, for everything that is not under test.
struct board {
    std::array<std::array<char, 1024>, most_ranks> addresses{};
    std::atomic<int> arrived{0}; // at all meetings together
    std::array<std::atomic<long>, 16> values{};
};

inline void require(bool holds, const std::string &what) {
    if (!holds)
        throw std::runtime_error(what);
}

struct way {
    const char *label;
    const char *provider;
    reach scope;
    bool copies_by_cma;
    // Other transports use a part of the settings.
    std::unique_ptr<transport> (*open)(const fabric_settings &settings);
};

// The tested transports: from the file that transport_test.cpp is linked with.
std::vector<way> ways();

inline std::string job() { return "fult-test-" + std::to_string(getppid()); }

// A packet with its buffer.
class buffer {
  public:
    explicit buffer(std::size_t capacity) : size_(sizeof(packet) + capacity) {
        void *const room = std::aligned_alloc(64, (size_ + 63) / 64 * 64);
        if (room == nullptr)
            throw std::bad_alloc();
        packet_ = new (room) packet{};
        packet_->capacity = static_cast<std::uint32_t>(capacity);
    }
    ~buffer() { std::free(packet_); }
    buffer(const buffer &) = delete;
    buffer &operator=(const buffer &) = delete;
    packet &get() noexcept { return *packet_; }
    std::size_t size() const noexcept { return size_; }

  private:
    std::size_t size_;
    packet *packet_;
};

class rank_process {
  public:
    rank_process(board &shared, int rank, int size, const way &how, const std::string &job,
                 std::size_t packet_bytes, bool sleep = false)
        : rank(rank), size(size), board_(shared), packet_bytes_(packet_bytes) {
        fabric_settings settings;
        settings.scope = how.scope;
        settings.provider = how.provider;
        settings.interface = how.scope == reach::network ? "127.0.0.1" : "";
        settings.name = job + "-" + std::to_string(rank);
        settings.rank = rank;
        settings.expected_ranks = size;
        settings.receive_packet_bytes = packet_bytes;
        settings.sleep = sleep;
        net = how.open(settings);
        const std::string mine = net->address();
        require(mine.size() < 1024, "an address too long for the board");
        std::memcpy(board_.addresses[static_cast<std::size_t>(rank)].data(), mine.data(), mine.size());
        meet_idle();
        std::vector<std::string> all;
        for (int i = 0; i < size; ++i)
            all.emplace_back(board_.addresses[static_cast<std::size_t>(i)].data());
        net->connect(all);
        meet_idle();
        net->unlink_names();
    }

    // Waits for all without touching the transport.
    void meet_idle() {
        board_.arrived.fetch_add(1);
        for (const int all = ++meetings_ * size; board_.arrived.load() < all;)
            sched_yield();
    }
    // Waits for all while making progress.
    void meet() {
        board_.arrived.fetch_add(1);
        for (const int all = ++meetings_ * size; board_.arrived.load() < all;)
            idle();
    }

    void idle() {
        poll();
        sched_yield();
    }

    // Events go into happened; a packet that ends its sending is free again.
    unsigned poll() {
        std::array<event, 16> events;
        const unsigned count = net->poll(events);
        for (unsigned i = 0; i < count; ++i)
            happened.push_back(events[i]);
        return count;
    }

    void post_receives(unsigned count) {
        for (unsigned i = 0; i < count; ++i)
            if (net->post(make_packet()) != outcome::done)
                return;
    }

    packet &make_packet() {
        buffers_.push_back(std::make_unique<buffer>(packet_bytes_));
        packet &p = buffers_.back()->get();
        if (net->limits().local_keys) {
            memory m{&p, buffers_.back()->size()};
            require(net->register_memory(m, access_rights::read_and_write), "a packet was not enrolled");
            p.descriptor[0] = m.descriptor;
        }
        return p;
    }

    // Tries until it is taken.
    template <class F> void insist(F call) {
        for (outcome result; (result = call()) != outcome::done; idle())
            require(result == outcome::again, "the other rank is called unreachable");
    }

    const int rank;
    const int size;
    std::unique_ptr<transport> net;
    std::deque<event> happened;

  private:
    board &board_;
    std::size_t packet_bytes_;
    int meetings_ = 0;
    std::vector<std::unique_ptr<buffer>>
        buffers_; // outlived by net's operations only where a test ends the process
};

inline constexpr int absent = 77; // exit status: this machine has no such provider

// Forks `size` ranks that run `body`. Returns their wait statuses. One that fails ends the others, which
// would wait for it; one that is killed does not.
inline std::vector<int> fork_ranks(int size, const way &how, const std::function<void(board &, int)> &body) {
    void *const room =
        mmap(nullptr, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    require(room != MAP_FAILED, "mmap of the board");
    board *const shared = new (room) board;
    std::vector<pid_t> processes;
    std::fflush(nullptr);
    for (int rank = 0; rank < size; ++rank) {
        const pid_t child = fork();
        require(child >= 0, "fork");
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL); // no rank outlives the test
            setenv("FI_SHM_DISABLE_CMA", how.copies_by_cma ? "0" : "1", 1);
            int status = 0;
            try {
                body(*shared, rank);
            } catch (const std::exception &e) {
                std::fprintf(stderr, "%s, rank %d: %s\n", how.label, rank, e.what());
                status = 1;
            }
            std::fflush(nullptr);
            _exit(status);
        }
        processes.push_back(child);
    }
    std::vector<int> statuses(processes.size());
    for (std::size_t left = processes.size(); left != 0; --left) {
        int status = 0;
        const pid_t ended = waitpid(-1, &status, 0);
        for (std::size_t rank = 0; rank < processes.size(); ++rank)
            if (processes[rank] == ended) {
                statuses[rank] = status;
                processes[rank] = 0;
            }
        const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        if (status != 0 && !killed)
            for (const pid_t each : processes)
                if (each != 0)
                    kill(each, SIGKILL);
    }
    munmap(room, sizeof(board));
    return statuses;
}

} // namespace fabric_ranks

// Detects that all ranks of a job wait for each other, and reports it. Uses a thread, which is started only
// when this rank, or one that asks it, has slept for a while.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <fult/detail/stillness.hpp>

#include "comm/deadlock/rounds.hpp"
#include "comm/protocol/probe.hpp"

namespace fult::comm::detail {

class device;

class deadlock_watch final : public fult::detail::deadlock_judge, probe_listener, rank_environment {
  public:
    // The first device carries the probes.
    deadlock_watch(const std::vector<std::unique_ptr<device>> &devices, int rank, int size);
    deadlock_watch(const deadlock_watch &) = delete;
    deadlock_watch &operator=(const deadlock_watch &) = delete;
    ~deadlock_watch();

    // This rank has left: its tasks wait for no other rank.
    void leave() noexcept;

  private:
    // Any thread:
    void all_wait() noexcept override;
    void handle_probe(int from, const probe_body &body) noexcept override;
    void handle_departure() noexcept override;
    void begin_thread() noexcept;

    // Its own thread:
    void run() noexcept;
    void handle_probes();
    bool try_read_state(rank_state &own) noexcept;
    bool sum_up(rank_state &own) noexcept;
    template <class Done> bool until(const Done &done) noexcept;
    rank_state read_state() noexcept override;
    void send(int rank, const probe_body &body) noexcept override;
    bool has_failed(int rank) const noexcept override;
    bool has_left(int rank) const noexcept override;
    void report(int waiting) noexcept override;
    void end() noexcept override;

    const std::vector<std::unique_ptr<device>> &devices_;
    const int rank_, size_;
    const deadlock_mode mode_;
    std::atomic<bool> left_{false};

    std::mutex mutex_;
    std::condition_variable condition_;
    // The last probe of each kind from each rank: a newer one supersedes an older one.
    using probe_set = std::array<probe_body, probe_kinds>;
    std::vector<probe_set> probes_;
    std::vector<int> senders_; // ranks with probes in probes_
    bool all_wait_ = false, departed_ = false, ending_ = false, has_begun_ = false;

    deadlock_rounds rounds_; // used only by the watch's thread
    std::vector<probe_set> handled_;
    std::vector<int> readers_;
    std::thread thread_;
};

} // namespace fult::comm::detail

// Blocks as tasks (PPL, section 4.3): a task starts when its requirements are met, and runs to its end
// without waiting. What a rank contributes to another's rows is an active message: its handler counts down
// the requirements of the block that solves for them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fult/comm.hpp>
#include <fult/sync/latch.hpp>

#include "apps/support/version.hpp"
#include "block_solver.hpp"
#include "command_line.hpp"
#include "system.hpp"

namespace sptrsv {

class task_ranks {
  public:
    static constexpr apps::version version = apps::version::tasks;

    explicit task_ranks(fult::comm::context &context) : context_(context) {}

    int rank() const { return context_.rank(); }
    int size() const { return context_.size(); }
    void barrier() { fult::comm::barrier(context_.world()); }
    std::int64_t sum(std::int64_t mine) {
        return fult::comm::allreduce(context_.world(), mine, std::plus<>{});
    }

    void prepare(const linear_system &given, const command_line &wanted) {
        among_ = divide(given.matrix, size(), wanted.entries_in_section);
        own_ = make_stripe(given.matrix, among_, rank(), wanted.entries_in_task);
        solver_.emplace(own_, given.right, size(), rank());
        counters_ = std::make_unique<counter[]>(own_.blocks.size());
        messages_ = context_.make_endpoint(
            {.delivery = fult::comm::delivery::handler,
             .handler = [this](const fult::comm::status &about,
                               std::span<const std::byte> bytes) { receive(about, bytes); },
             .rank_ended =
                 [this](int ended, fult::comm::errc why) {
                     if (solving_.load(std::memory_order_relaxed) || why == fult::comm::errc::peer_failed)
                         give_up(ended); // else all calls that wait for it fail
                 }});
    }

    void forget() {
        solver_->forget();
        for (std::size_t block = 0; block < own_.blocks.size(); ++block)
            counters_[block].store(own_.requirements[block], std::memory_order_relaxed);
        left_.emplace(std::ptrdiff_t(own_.blocks.size()));
        solving_.store(true, std::memory_order_relaxed);
    }

    void solve() {
        for (std::size_t block = 0; block < own_.blocks.size(); ++block)
            if (own_.requirements[block] == 0)
                start(block);
        left_->wait();
        solving_.store(false, std::memory_order_relaxed);
    }

    std::vector<double> collect() {
        std::vector<std::size_t> counts;
        for (int each = 0; each < size(); ++each)
            counts.push_back(
                std::size_t(among_.stripes[std::size_t(each) + 1] - among_.stripes[std::size_t(each)]));
        std::vector<double> all(rank() == 0 ? among_.section_of.size() : 0);
        fult::comm::gatherv(context_.world(), solver_->solution(), all, counts, 0);
        return all;
    }

    std::int64_t tasks() const { return std::int64_t(own_.blocks.size()); }
    std::int64_t messages() const { return std::int64_t(own_.blocks.size() - own_.own_blocks); }

  private:
    using counter = std::atomic<std::int32_t>; // of requirements that are not met

    void start(std::size_t block) {
        fult::spawn([this, block] { run(block); }).detach();
    }

    // True if this was the last requirement. Acquire and release: who meets the last one sees what the others
    // have computed.
    bool meet_one(std::size_t block) { return counters_[block].fetch_sub(1, std::memory_order_acq_rel) == 1; }

    // Computes a block, and then those that it completes the requirements of: one of them in this task, the
    // one furthest down, on which other ranks are the most likely to wait.
    void run(std::size_t block) {
        constexpr std::size_t none = ~std::size_t{0};
        for (std::size_t next = block; next != none;) {
            const std::size_t current = std::exchange(next, none);
            compute(current);
            for (const index after : own_.successors_of(current))
                if (meet_one(std::size_t(after)))
                    if (const std::size_t other = std::exchange(next, std::size_t(after)); other != none)
                        start(other);
            left_->count_down();
        }
    }

    void compute(std::size_t block) {
        if (own_.solves(block)) {
            solver_->solve(block);
            return;
        }
        const index section = own_.blocks[block].section;
        const int owner = among_.owner_of[std::size_t(section)];
        try {
            messages_.send(solver_->contribute(block), owner, section);
        } catch (const fult::comm::error &) {
            give_up(owner);
        }
    }

    // The handler of a contribution. Neither suspends nor waits.
    void receive(const fult::comm::status &about, std::span<const std::byte> bytes) {
        const std::size_t block = own_.block_of(index(about.tag));
        for (const contribution &each : own_.contributions_to(block))
            if (each.source == about.source)
                std::memcpy(solver_->place_of(each).data(), bytes.data(), bytes.size());
        if (meet_one(block))
            start(block);
    }

    [[noreturn]] void give_up(int ended) {
        context_.abort(1, "sptrsv: rank " + std::to_string(ended) + " has ended before the others");
    }

    fult::comm::context &context_;
    partition among_;
    stripe own_;
    std::optional<block_solver> solver_;
    std::unique_ptr<counter[]> counters_; // of each block
    std::optional<fult::latch> left_;     // blocks
    std::atomic<bool> solving_{false};
    fult::comm::endpoint messages_;
};

} // namespace sptrsv

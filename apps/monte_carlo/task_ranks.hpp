// Particles tracked by tasks. Tables lie in the heaps of the ranks; a task reads one of another rank through
// the cache of its own rank, and suspends alone until it is there. What one has fetched, all have. Source:
// section 4.2 of PPL.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <fult/fult.hpp>
#include <fult/global.hpp>

#include "apps/support/progress_line.hpp"
#include "apps/support/rank_cache.hpp"
#include "layout.hpp"
#include "program.hpp"
#include "sweep.hpp"
#include "tally_pool.hpp"
#include "transport.hpp"

namespace monte_carlo {

class task_ranks {
  public:
    static constexpr apps::version version = apps::version::tasks;

    task_ranks(fult::comm::endpoint &all, const command_line &wanted)
        : all_(all),
          wanted_(wanted),
          of_(wanted.given),
          divided_(all.size(), wanted.how == scheme::dedicated ? wanted.servers : 0, "fult-run"),
          memory_(all, {.heap = heap_for(divided_.bands_of(all.rank(), of_).size())}),
          lines_(memory_, cache_for(wanted.cache)) {
        share_tables();
    }

    int rank() const { return all_.rank(); }
    int size() const { return all_.size(); }
    void sum(std::span<std::uint64_t> values) {
        fult::comm::allreduce(all_, values, values, std::plus<std::uint64_t>{});
    }

    effort track(const apps::progress_line &progress, tally &into) {
        effort spent;
        if (divided_.has_particles(rank())) {
            tally_pool tallies;
            if (wanted_.how == scheme::prefetch)
                prefetch(progress, tallies);
            else
                sweep(progress, tallies, spent);
            into += tallies.sum();
            spent.transfers = lines_.counters().misses;
        }
        return spent;
    }

  private:
    using table_pointer = fult::global::global_ptr<cross_section>;
    using table_handle = fult::global::cached<cross_section>;

    std::size_t heap_for(std::size_t bands) const {
        return bands * (table_size(of_) * sizeof(cross_section) + 64) + 4096;
    }
    static fult::global::cache_options cache_for(std::uint64_t mebibytes) {
        fult::global::cache_options made = apps::rank_cache(mebibytes);
        if (mebibytes != 0)
            made.shards = 1; // a table may be a large part of it
        return made;
    }

    // Makes the tables of this rank, and lets all ranks know where theirs are.
    void share_tables() {
        const std::size_t most = divided_.bands_of(divided_.owner(0), of_).size();
        std::vector<table_pointer> own(most), all(most * std::size_t(size()));
        const auto bands = divided_.bands_of(rank(), of_);
        for (std::size_t i = 0; i < bands.size(); ++i) {
            const std::vector<cross_section> made = make_table(of_, bands[i]);
            own[i] = memory_.allocate<cross_section>(made.size());
            std::copy(made.begin(), made.end(), memory_.local(own[i], made.size()));
        }
        fult::comm::allgather(all_, own, all); // all tables are there
        tables_.resize(of_.bands);
        for (int owner = 0; owner < size(); ++owner) {
            const auto theirs = divided_.bands_of(owner, of_);
            for (std::size_t i = 0; i < theirs.size(); ++i)
                tables_[theirs[i]] = all[std::size_t(owner) * most + i];
        }
    }

    table_handle get_table(unsigned band) { return lines_.get(tables_[band], table_size(of_)); }

    // Band after band; tasks track the particles of one.
    void sweep(const apps::progress_line &progress, tally_pool &tallies, effort &spent) {
        const std::vector<particle> own = divided_.particles_of(rank(), of_);
        (*tally_pool::lease(tallies))[tally::born] += own.size();
        spent.sweeps = sweep_bands(
            of_, own,
            [&](unsigned band) {
                const auto begin = monte_carlo::clock::now();
                table_handle table = get_table(band);
                spent.waiting += seconds_since(begin);
                return table;
            },
            [&](unsigned band, const table_handle &table, std::span<particle> here) {
                track_all(band_table(of_, band, table.span()), here, tallies);
            },
            [&](unsigned number, unsigned band, std::size_t flying) {
                show_sweep(progress, number, band, flying);
            });
    }
    void track_all(const band_table &in, std::span<particle> all, tally_pool &tallies) {
        fult::task_group tasks;
        for (std::size_t done = 0; done < all.size(); done += block) {
            const auto part = all.subspan(done, std::min(block, all.size() - done));
            tasks.spawn([&in, &tallies, part] {
                const tally_pool::lease into(tallies);
                for (particle &each : part)
                    track_in_band(each, in, *into);
            });
        }
        tasks.wait();
    }

    // Tasks that track one particle after the other, each to its end.
    void prefetch(const apps::progress_line &progress, tally_pool &tallies) {
        const std::uint64_t first = divided_.first_particle(rank(), of_),
                            end = divided_.first_particle(rank() + 1, of_),
                            step = std::max<std::uint64_t>(1, (end - first) / 100);
        std::atomic<std::uint64_t> next{first}, ended{0};
        const auto track_some = [&] {
            for (std::uint64_t number = next++; number < end; number = next++) {
                track_to_end(born_particle(of_, number), tallies);
                if (const std::uint64_t done = ++ended; done % step == 0)
                    progress.show(std::to_string(done) + " of " + std::to_string(end - first) + " particles");
                fult::this_task::yield(); // to answer ranks that get tables
            }
        };
        fult::task_group tasks;
        for (std::uint64_t i = 0; i < std::min<std::uint64_t>(wanted_.in_flight, end - first); ++i)
            tasks.spawn(track_some);
        tasks.wait();
    }
    void track_to_end(particle each, tally_pool &tallies) {
        ++(*tally_pool::lease(tallies))[tally::born];
        while (each.state == fate::flying) {
            const unsigned band = band_of(each.lethargy, of_);
            const table_handle table = get_table(band); // may suspend
            const tally_pool::lease into(tallies);
            track_in_band(each, band_table(of_, band, table.span()), *into);
        }
    }

    static constexpr std::size_t block = 16; // particles of a task in a sweep

    fult::comm::endpoint &all_;
    const command_line &wanted_;
    const problem &of_;
    layout divided_;
    fult::global::memory memory_;
    fult::global::cache lines_;
    std::vector<table_pointer> tables_; // of each band
};

} // namespace monte_carlo

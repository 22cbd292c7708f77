// The searches by MPI calls alone: each process has one thread, which polls for messages while it searches.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mpi.h>
#include <utility>
#include <vector>

#include "apps/support/mpi_processes.hpp"
#include "apps/support/version.hpp"
#include "search.hpp"

namespace bfs {

class process_ranks : public apps::mpi_processes {
  public:
    static constexpr apps::version version = apps::version::processes;

    std::int64_t sum(std::int64_t mine) { return reduce(mine, MPI_SUM); }
    std::int64_t largest(std::int64_t mine) { return reduce(mine, MPI_MAX); }

    template <class T>
    std::vector<T> exchange(const std::vector<T> &out, const std::vector<std::size_t> &counts,
                            std::vector<std::size_t> &arrived) {
        arrived.resize(counts.size());
        MPI_Alltoall(counts.data(), sizeof(std::size_t), MPI_BYTE, arrived.data(), sizeof(std::size_t),
                     MPI_BYTE, MPI_COMM_WORLD);
        const blocks sent(counts, sizeof(T)), received(arrived, sizeof(T));
        std::vector<T> in(received.bytes / sizeof(T));
        MPI_Alltoallv(out.data(), sent.sizes.data(), sent.offsets.data(), MPI_BYTE, in.data(),
                      received.sizes.data(), received.offsets.data(), MPI_BYTE, MPI_COMM_WORLD);
        return in;
    }

    void expand(const graph &g, tree &into, const frontier &at, std::vector<std::size_t> &next) {
        level_streams(*this, g, into, at, next).run();
    }

  private:
    // Blocks of memory in MPI's terms.
    struct blocks {
        blocks(const std::vector<std::size_t> &counts, std::size_t element) {
            for (const std::size_t each : counts) {
                offsets.push_back(int(bytes));
                sizes.push_back(int(each * element));
                bytes += each * element;
                if (bytes > std::size_t(std::numeric_limits<int>::max()))
                    throw failure(
                        "an exchange of more than 2 GiB, which MPI_Alltoallv cannot count; start fewer "
                        "processes");
            }
        }
        std::vector<int> sizes, offsets;
        std::size_t bytes = 0;
    };

    std::int64_t reduce(std::int64_t mine, MPI_Op how) {
        std::int64_t all = 0;
        MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, how, MPI_COMM_WORLD);
        return all;
    }

    // The messages of a level: a stream to each other process, and one receive for those of all.
    class level_streams {
      public:
        level_streams(const process_ranks &ranks, const graph &g, tree &into, const frontier &at,
                      std::vector<std::size_t> &next)
            : rank_(ranks.rank()),
              open_(ranks.size() - 1),
              g_(g),
              into_(into),
              at_(at),
              next_(next),
              out_(std::size_t(ranks.size())) {}

        void run() {
            if (open_ != 0)
                post();
            scan(g_, into_, at_, next_, [this](int owner, const update &reached) {
                stream &to = out_[std::size_t(owner)];
                to.filling.push_back(reached);
                if (to.filling.size() == updates_in_message)
                    flush(owner);
            });
            for (int owner = 0; owner < int(out_.size()); ++owner)
                if (owner != rank_)
                    flush(owner); // shorter than the others: the last one
            while (open_ != 0)
                poll();
            for (stream &each : out_)
                MPI_Wait(&each.sending, MPI_STATUS_IGNORE);
        }

      private:
        struct stream {
            std::vector<update> filling, in_flight;
            MPI_Request sending = MPI_REQUEST_NULL;
        };

        void flush(int owner) {
            stream &to = out_[std::size_t(owner)];
            while (!complete(to.sending))
                poll(); // the other process may wait until this one receives
            std::swap(to.filling, to.in_flight);
            to.filling.clear();
            MPI_Isend(to.in_flight.data(), int(to.in_flight.size() * sizeof(update)), MPI_BYTE, owner, 0,
                      MPI_COMM_WORLD, &to.sending);
        }

        static bool complete(MPI_Request &request) {
            int done = 0;
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            return done != 0;
        }

        void post() {
            MPI_Irecv(arriving_.data(), int(sizeof arriving_), MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD,
                      &receiving_);
        }

        void poll() {
            if (open_ == 0)
                return;
            int done = 0;
            MPI_Status about;
            MPI_Test(&receiving_, &done, &about);
            if (!done)
                return;
            int bytes = 0;
            MPI_Get_count(&about, MPI_BYTE, &bytes);
            const std::size_t count = std::size_t(bytes) / sizeof(update);
            claim_all(std::span(arriving_).first(count), g_.among(), into_, at_.next_level, next_);
            if (count < updates_in_message)
                --open_;
            if (open_ != 0)
                post();
        }

        int rank_;
        int open_; // streams whose last message has not arrived
        const graph &g_;
        tree &into_;
        const frontier &at_;
        std::vector<std::size_t> &next_;
        std::vector<stream> out_;
        std::array<update, updates_in_message> arriving_;
        MPI_Request receiving_ = MPI_REQUEST_NULL;
    };
};

} // namespace bfs

// Triangular systems by MPI calls alone, level by level: each process computes its rows of a level, and sends
// the numbers that others need. Works with any MPI.
#include <cstddef>
#include <cstdint>
#include <mpi.h>
#include <vector>

#include "apps/support/mpi_processes.hpp"
#include "level_schedule.hpp"
#include "program.hpp"

namespace {

using namespace sptrsv;

class process_ranks : public apps::mpi_processes {
  public:
    static constexpr apps::version version = apps::version::processes;

    void barrier() { MPI_Barrier(MPI_COMM_WORLD); }
    std::int64_t sum(std::int64_t mine) {
        std::int64_t all = 0;
        MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        return all;
    }

    void prepare(const linear_system &given, const command_line &) {
        own_ = make_level_schedule(given.matrix, size(), rank());
        stripes_ = row_stripes(given.matrix, size());
        for (const index row : own_.rows)
            right_.push_back(given.right[std::size_t(row)]);
        packed_.resize(own_.sent.size());
        sending_.resize(own_.departures.size());
    }

    void forget() { x_.assign(own_.numbers, 0); }

    void solve() {
        std::size_t departure = 0, arrival = 0;
        for (std::size_t level = 0; level < own_.arrivals_before.size(); ++level) {
            for (; arrival < own_.arrivals_before[level]; ++arrival)
                receive(own_.arrivals[arrival]);
            compute(own_.level_starts[level], own_.level_starts[level + 1]);
            for (; departure < own_.departures.size() && own_.departures[departure].level == index(level);
                 ++departure)
                send(departure);
        }
        MPI_Waitall(int(sending_.size()), sending_.data(), MPI_STATUSES_IGNORE);
    }

    std::vector<double> collect() {
        std::vector<double> own(own_.rows.size());
        for (std::size_t k = 0; k < own.size(); ++k)
            own[std::size_t(own_.rows[k] - own_.first)] = x_[k];
        std::vector<int> counts, offsets;
        for (std::size_t each = 0; each + 1 < stripes_.size(); ++each) {
            counts.push_back(stripes_[each + 1] - stripes_[each]);
            offsets.push_back(stripes_[each]);
        }
        std::vector<double> all(rank() == 0 ? std::size_t(stripes_.back()) : 0);
        MPI_Gatherv(own.data(), int(own.size()), MPI_DOUBLE, all.data(), counts.data(), offsets.data(),
                    MPI_DOUBLE, 0, MPI_COMM_WORLD);
        return all;
    }

    std::int64_t tasks() const { return 0; }
    std::int64_t messages() const { return std::int64_t(own_.departures.size()); }

  private:
    void compute(std::size_t first, std::size_t last) {
        for (std::size_t row = first; row < last; ++row) {
            double sum = right_[row];
            for (auto at = std::size_t(own_.starts[row]); at < std::size_t(own_.starts[row + 1]); ++at)
                sum -= own_.values[at] * x_[std::size_t(own_.columns[at])];
            x_[row] = sum * own_.inverse[row];
        }
    }

    void send(std::size_t departure) {
        const level_message &each = own_.departures[departure];
        for (std::size_t k = each.first; k < each.last; ++k)
            packed_[k] = x_[own_.sent[k]];
        MPI_Isend(packed_.data() + each.first, int(each.last - each.first), MPI_DOUBLE, each.other,
                  each.level, MPI_COMM_WORLD, &sending_[departure]);
    }

    void receive(const level_message &each) {
        MPI_Recv(x_.data() + each.first, int(each.last - each.first), MPI_DOUBLE, each.other, each.level,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }

    level_schedule own_;
    std::vector<index> stripes_;
    std::vector<double> right_, x_, packed_;
    std::vector<MPI_Request> sending_;
};

} // namespace

int main(int argc, char **argv) {
    return program_main(argc, argv, apps::version::processes, [](const command_line &wanted) {
        process_ranks ranks;
        return run(ranks, wanted);
    });
}

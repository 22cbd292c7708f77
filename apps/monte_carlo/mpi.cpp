// Particle transport by MPI calls alone, with dedicated servers: the program that PPL is compared with. A
// server answers requests for bands, one after the other; the other processes sweep. Works with any MPI.
#include <mpi.h>
#include <vector>

#include "apps/support/mpi_processes.hpp"
#include "layout.hpp"
#include "program.hpp"
#include "sweep.hpp"
#include "transport.hpp"

namespace {

using namespace monte_carlo;

class process_ranks : public apps::mpi_processes {
  public:
    static constexpr apps::version version = apps::version::processes;

    explicit process_ranks(const command_line &wanted)
        : servers_(wanted.servers),
          of_(wanted.given),
          divided_(size(), servers_, "mpiexec"),
          tables_(of_.bands) {
        for (const unsigned band : divided_.bands_of(rank(), of_))
            tables_[band] = make_table(of_, band);
    }

    void sum(std::span<std::uint64_t> values) {
        MPI_Allreduce(MPI_IN_PLACE, values.data(), int(values.size()), MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    }

    effort track(const apps::progress_line &progress, tally &into) {
        effort spent;
        if (divided_.has_particles(rank()))
            sweep(progress, into, spent);
        else
            serve();
        return spent;
    }

  private:
    enum tag { request, table };
    static constexpr int no_more = -1; // a request

    int doubles() const { return int(table_size(of_) * (sizeof(cross_section) / sizeof(double))); }

    // Until no tracker needs any more.
    void serve() const {
        for (int trackers = divided_.trackers(); trackers != 0;) {
            int band = no_more;
            MPI_Status from;
            MPI_Recv(&band, 1, MPI_INT, MPI_ANY_SOURCE, request, MPI_COMM_WORLD, &from);
            if (band == no_more)
                --trackers;
            else
                MPI_Send(tables_[std::size_t(band)].data(), doubles(), MPI_DOUBLE, from.MPI_SOURCE, table,
                         MPI_COMM_WORLD);
        }
    }

    void retrieve(unsigned band, std::vector<cross_section> &to) const {
        const int server = divided_.owner(band), wanted = int(band);
        to.resize(table_size(of_));
        MPI_Send(&wanted, 1, MPI_INT, server, request, MPI_COMM_WORLD);
        MPI_Recv(to.data(), doubles(), MPI_DOUBLE, server, table, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }

    void sweep(const apps::progress_line &progress, tally &into, effort &spent) const {
        std::vector<cross_section> current; // the only table of a tracker
        const std::vector<particle> own = divided_.particles_of(rank(), of_);
        into[tally::born] += own.size();
        spent.sweeps = sweep_bands(
            of_, own,
            [&](unsigned band) {
                const auto begin = monte_carlo::clock::now();
                retrieve(band, current);
                spent.waiting += seconds_since(begin);
                ++spent.transfers;
                return std::span<const cross_section>(current);
            },
            [&](unsigned band, std::span<const cross_section> from, std::span<particle> here) {
                for (particle &each : here)
                    track_in_band(each, band_table(of_, band, from), into);
            },
            [&](unsigned number, unsigned band, std::size_t flying) {
                show_sweep(progress, number, band, flying);
            });
        for (int server = divided_.trackers(); server < size(); ++server)
            MPI_Send(&no_more, 1, MPI_INT, server, request, MPI_COMM_WORLD);
    }

    int servers_;
    const problem &of_;
    layout divided_;
    std::vector<std::vector<cross_section>> tables_; // those of other processes are empty
};

} // namespace

int main(int argc, char **argv) {
    return program_main(argc, argv, apps::version::processes, [](const command_line &wanted) {
        process_ranks ranks(wanted);
        return run(ranks, wanted);
    });
}

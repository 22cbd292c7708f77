// NAS DT by MPI calls alone: a process for each node of the graph. Works with any MPI.
#include <cstdint>
#include <cstdio>
#include <mpi.h>

#include "apps/support/mpi_processes.hpp"
#include "node.hpp"
#include "program.hpp"

namespace {

using namespace dt;

class process_streams {
  public:
    explicit process_streams(const graph &of) : of_(of) {}

    features receive(int arc) {
        const int source = of_.arcs()[std::size_t(arc)].tail;
        MPI_Status about;
        MPI_Probe(source, arc, MPI_COMM_WORLD, &about);
        int length = 0;
        MPI_Get_count(&about, MPI_DOUBLE, &length);
        features stream(static_cast<std::size_t>(length));
        MPI_Recv(stream.data(), length, MPI_DOUBLE, source, arc, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return stream;
    }

    void send(int arc, const features &stream) {
        MPI_Send(stream.data(), int(stream.size()), MPI_DOUBLE, of_.arcs()[std::size_t(arc)].head, arc,
                 MPI_COMM_WORLD);
    }

  private:
    const graph &of_;
};

class process_ranks : public apps::mpi_processes {
  public:
    static constexpr apps::version version = apps::version::processes;

    void barrier() { MPI_Barrier(MPI_COMM_WORLD); }

    double sum(double mine) {
        double all = 0;
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        return all;
    }

    // Processes beyond the last node have nothing to do.
    template <class Done> double run_nodes(const problem &given, const graph &of, const Done &done) {
        if (std::size_t(rank()) >= of.nodes().size())
            return 0;
        const double checksum = run_node(given, of.nodes()[std::size_t(rank())], process_streams(of));
        done();
        return checksum;
    }
};

int run_if_enough(process_ranks &ranks, const command_line &wanted) {
    const std::size_t nodes = make_graph(wanted.form, wanted.given.width).nodes().size();
    if (nodes <= std::size_t(ranks.size()))
        return run(ranks, wanted);
    if (ranks.rank() == 0)
        std::fprintf(
            stderr,
            "dt-mpi: %s of class %c needs a process for each of its %zu nodes, but there are %d; start %zu, "
            "or use dt, whose nodes are tasks\n",
            short_name(wanted.form), wanted.given.name, nodes, ranks.size(), nodes);
    return 1;
}

} // namespace

int main(int argc, char **argv) {
    return program_main(argc, argv, apps::version::processes, [](const command_line &wanted) {
        process_ranks ranks;
        return run_if_enough(ranks, wanted);
    });
}

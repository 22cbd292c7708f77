// Barnes and Hut's algorithm by MPI calls alone, with locally essential trees (J. Salmon, "Parallel
// hierarchical N-body methods", thesis, California Institute of Technology, 1991): before the forces, each
// process sends to each other one all masses that can act on bodies there. Works with any MPI.
#include <cstddef>
#include <limits>
#include <mpi.h>
#include <stdexcept>
#include <vector>

#include "apps/support/mpi_processes.hpp"
#include "own_forces.hpp"
#include "program.hpp"

namespace {

using namespace barnes_hut;

class process_ranks : public apps::mpi_processes {
  public:
    static constexpr apps::version version = apps::version::processes;

    void sum(std::span<double> values) { reduce(values, MPI_SUM); }
    void largest(std::span<double> values) { reduce(values, MPI_MAX); }

    effort attract(std::vector<body> &own, const cube &around, const force_settings &how) {
        effort spent;
        auto begin = barnes_hut::clock::now();
        const tree made = tree_of(own, around);
        const tree others = make_tree(exchange_essential(made, box_of(own), how.angle), around);
        spent.tree = seconds_since(begin);
        begin = barnes_hut::clock::now();
        const auto survey_others = [&others](const viewer &view, const auto &act) {
            return survey(others, view, act);
        };
        const std::vector<group> groups = groups_of(made, how.group);
        for (const auto &block : blocks_of(made, groups))
            spent.interactions += double(attract_block(own, block, made, how, survey_others));
        spent.walk = seconds_since(begin);
        return spent;
    }

  private:
    static void reduce(std::span<double> values, MPI_Op how) {
        for (std::size_t done = 0; done < values.size();) { // MPI counts in int
            const std::size_t part = std::min(values.size() - done, std::size_t{1} << 30);
            MPI_Allreduce(MPI_IN_PLACE, values.data() + done, int(part), MPI_DOUBLE, how, MPI_COMM_WORLD);
            done += part;
        }
    }

    // The masses of this tree that act on some body in the box: each cell that is small from all of it.
    static void add_essential(const tree &own, const box &there, double angle, std::vector<point> &to) {
        walk(own, viewer(there, angle), [&to](const point &each) { to.push_back(each); });
    }

    // Returns the others' masses for the bodies here.
    std::vector<point> exchange_essential(const tree &own, const box &here, double angle) {
        std::vector<box> boxes(static_cast<std::size_t>(size()));
        MPI_Allgather(&here, sizeof here, MPI_BYTE, boxes.data(), sizeof here, MPI_BYTE, MPI_COMM_WORLD);
        std::vector<point> out;
        std::vector<std::size_t> ends;
        for (int other = 0; other < size(); ++other) {
            if (other != rank())
                add_essential(own, boxes[std::size_t(other)], angle, out);
            ends.push_back(out.size());
        }
        const blocks sent(ends);
        std::vector<int> arriving(static_cast<std::size_t>(size()));
        MPI_Alltoall(sent.sizes.data(), 1, MPI_INT, arriving.data(), 1, MPI_INT, MPI_COMM_WORLD);
        std::size_t end = 0;
        for (std::size_t k = 0; k < arriving.size(); ++k)
            ends[k] = end += std::size_t(arriving[k]) / doubles;
        const blocks received(ends);
        std::vector<point> in(end);
        MPI_Alltoallv(out.data(), sent.sizes.data(), sent.offsets.data(), MPI_DOUBLE, in.data(),
                      received.sizes.data(), received.offsets.data(), MPI_DOUBLE, MPI_COMM_WORLD);
        return in;
    }

    static constexpr std::size_t doubles = sizeof(point) / sizeof(double);

    // Points in MPI's terms.
    struct blocks {
        explicit blocks(const std::vector<std::size_t> &ends) {
            if (ends.back() > std::size_t(std::numeric_limits<int>::max()) / doubles)
                throw std::runtime_error("an exchange of more than 16 GiB, which MPI_Alltoallv cannot count; "
                                         "start more processes");
            std::size_t begin = 0;
            for (const std::size_t end : ends) {
                sizes.push_back(int(doubles * (end - begin)));
                offsets.push_back(int(doubles * begin));
                begin = end;
            }
        }
        std::vector<int> sizes, offsets;
    };
};

} // namespace

int main(int argc, char **argv) {
    return program_main(argc, argv, apps::version::processes, [](const command_line &wanted) {
        process_ranks ranks;
        return run(ranks, wanted);
    });
}

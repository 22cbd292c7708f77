// NAS DT in one thread: the nodes run in order.
#include "node.hpp"
#include "program.hpp"
#include "stored_streams.hpp"

namespace {

using namespace dt;

class serial_ranks {
  public:
    static constexpr apps::version version = apps::version::serial;

    int rank() const { return 0; }
    int size() const { return 1; }
    void barrier() {}
    double sum(double mine) { return mine; }

    template <class Done> double run_nodes(const problem &given, const graph &of, const Done &done) {
        stored_streams streams(of.arcs().size());
        double total = 0;
        for (const node &each : of.nodes()) {
            total += run_node(given, each, streams);
            done();
        }
        return total;
    }
};

} // namespace

int main(int argc, char **argv) {
    return program_main(argc, argv, apps::version::serial, [](const command_line &wanted) {
        serial_ranks ranks;
        return run(ranks, wanted);
    });
}

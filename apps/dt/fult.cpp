// NAS DT with a task for each node of the graph: nodes are dealt to the ranks, and a node that waits for a
// stream suspends only its task.
#include <functional>
#include <vector>

#include <fult/comm.hpp>

#include "apps/support/task_runtime.hpp"
#include "node.hpp"
#include "program.hpp"

namespace {

using namespace dt;

// The arcs of a graph as messages: an arc's number is its tag.
class task_streams {
  public:
    task_streams(fult::comm::endpoint &among, const graph &of) : among_(among), of_(of) {}

    int rank_of(int node) const { return node % among_.size(); }

    features receive(int arc) {
        const int source = rank_of(of_.arcs()[std::size_t(arc)].tail);
        features stream(among_.probe(source, arc).size / sizeof(double));
        among_.recv(stream, source, arc);
        return stream;
    }

    void send(int arc, const features &stream) {
        among_.send(stream, rank_of(of_.arcs()[std::size_t(arc)].head), std::uint32_t(arc));
    }

  private:
    fult::comm::endpoint &among_;
    const graph &of_;
};

class task_ranks {
  public:
    static constexpr apps::version version = apps::version::tasks;

    int rank() const { return context_.rank(); }
    int size() const { return context_.size(); }
    void barrier() { fult::comm::barrier(context_.world()); }
    double sum(double mine) { return fult::comm::allreduce(context_.world(), mine, std::plus<>{}); }

    template <class Done> double run_nodes(const problem &given, const graph &of, const Done &done) {
        task_streams streams(context_.world(), of);
        std::vector<fult::handle<double>> tasks;
        for (const node &each : of.nodes())
            if (streams.rank_of(each.id) == rank())
                tasks.push_back(fult::spawn([&given, &each, &streams, &done] {
                    const double checksum = run_node(given, each, streams);
                    done();
                    return checksum;
                }));
        fult::wait_all(tasks);
        double total = 0;
        for (auto &each : tasks)
            total += each.join();
        return total;
    }

  private:
    fult::comm::context context_;
};

} // namespace

int main(int argc, char **argv) {
    return program_main(argc, argv, apps::version::tasks, [](const command_line &wanted) {
        const fult::runtime runtime = apps::start_runtime(wanted.workers);
        task_ranks ranks;
        return run(ranks, wanted);
    });
}

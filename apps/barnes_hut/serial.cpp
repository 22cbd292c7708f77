// Barnes and Hut's algorithm in one thread.
#include "own_forces.hpp"
#include "program.hpp"

namespace {

using namespace barnes_hut;

class serial_ranks {
  public:
    static constexpr apps::version version = apps::version::serial;

    int rank() const { return 0; }
    int size() const { return 1; }
    void sum(std::span<double>) {}
    void largest(std::span<double>) {}

    effort attract(std::vector<body> &own, const cube &around, const force_settings &how) {
        effort spent;
        auto begin = barnes_hut::clock::now();
        const tree made = tree_of(own, around);
        spent.tree = seconds_since(begin);
        begin = barnes_hut::clock::now();
        const auto no_others = [](const viewer &, const auto &) {};
        for (const group &each : groups_of(made, how.group))
            spent.interactions += double(attract_group(bodies_of(own, each), made, how, no_others));
        spent.walk = seconds_since(begin);
        return spent;
    }
};

} // namespace

int main(int argc, char **argv) {
    return program_main(argc, argv, apps::version::serial, [](const command_line &wanted) {
        serial_ranks ranks;
        return run(ranks, wanted);
    });
}

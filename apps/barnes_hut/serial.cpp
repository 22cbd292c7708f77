// Barnes and Hut's algorithm in one thread.
#include "own_forces.hpp"
#include "program.hpp"

namespace {

using namespace barnes_hut;

// There are no others.
struct empty_outlook {
    void walk(const viewer &, const auto &) {}
};
constexpr auto survey_nothing = [](const viewer &, const auto &) { return empty_outlook{}; };

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
        const std::vector<group> groups = groups_of(made, how.group);
        for (const auto &block : blocks_of(made, groups))
            spent.interactions += double(attract_block(own, block, made, how, survey_nothing));
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

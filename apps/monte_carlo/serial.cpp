// Particle transport in one thread, band after band.
#include "program.hpp"
#include "sweep.hpp"
#include "transport.hpp"

namespace {

using namespace monte_carlo;

class serial_ranks {
  public:
    static constexpr apps::version version = apps::version::serial;

    explicit serial_ranks(const problem &of) : of_(of), tables_(make_all_tables(of)) {}

    int rank() const { return 0; }
    int size() const { return 1; }
    void sum(std::span<std::uint64_t>) {}

    effort track(const apps::progress_line &progress, tally &into) {
        std::vector<particle> all;
        for (std::uint64_t number = 0; number < of_.particles; ++number)
            all.push_back(born_particle(of_, number));
        into[tally::born] += all.size();
        effort spent;
        spent.sweeps = sweep_bands(
            of_, all, [&](unsigned band) { return std::span<const cross_section>(tables_[band]); },
            [&](unsigned band, std::span<const cross_section> table, std::span<particle> here) {
                for (particle &each : here)
                    track_in_band(each, band_table(of_, band, table), into);
            },
            [&](unsigned sweep, unsigned band, std::size_t flying) {
                show_sweep(progress, sweep, band, flying);
            });
        return spent;
    }

  private:
    const problem &of_;
    all_tables tables_;
};

} // namespace

int main(int argc, char **argv) {
    return program_main(argc, argv, apps::version::serial, [](const command_line &wanted) {
        serial_ranks ranks(wanted.given);
        return run(ranks, wanted);
    });
}

#include "tests/comm/random/program.hpp"

#include <stdexcept>

#include "tests/comm/random/content.hpp"

namespace fult::comm::testing {
namespace {

std::vector<const act_kind *> kinds_of(const std::string &only) {
    std::vector<const act_kind *> all;
    for (const auto some : {stream_acts(), wildcard_acts(), delivery_acts(), collective_acts(),
                            one_sided_acts(), c_stream_acts(), c_collective_acts(), c_one_sided_acts(),
                            c_delivery_acts(), fork_acts(), transfer_acts()})
        for (const act_kind &each : some)
            if (only.empty() || only == each.name)
                all.push_back(&each);
    if (all.empty())
        throw std::invalid_argument("there is no kind of act called " + only);
    return all;
}

comm::options random_options(dice &d, const comm::options &base, bool scarce) {
    constexpr std::size_t sizes[] = {256, 512, 1024, 4096, 8192, 8192, 8192, 65536};
    constexpr std::size_t counts[] = {8, 16, 64, 1024, 1024, 1024};
    constexpr std::size_t limits[] = {0, 0, 0, 1, 64, 1000, 4096, 20000};
    constexpr std::size_t rooms[] = {std::size_t{256} << 20, std::size_t{256} << 20, 1 << 20, 200'000};
    comm::options o = base;
    o.packet_size = d.one_of(sizes);
    o.packets = d.one_of(counts);
    o.rendezvous = d.one_of(limits);
    o.unexpected = d.one_of(rooms);
    o.gather = d.chance(70);
    o.devices = d.chance(20) ? d.between(2U, 3U) : 1;
    if (scarce) {
        o.packet_size = d.chance(50) ? 256 : 512;
        o.packets = 8;
        o.unexpected = 64 << 10;
    }
    return o;
}

phase_plan random_phase(dice &d, std::span<const act_kind *const> kinds, unsigned devices, bool slow) {
    phase_plan p;
    p.barrier = d.chance(50);
    p.slow = slow && d.chance(60);
    p.seed = d.next();
    for (int n = d.between(1, 5); n > 0; --n)
        p.acts.push_back({kinds[d.below(kinds.size())], d.next(), d.below(devices)});
    return p;
}

} // namespace

program make_program(std::uint64_t seed, int ranks, const fault_plan &faults, const comm::options &base,
                     const std::string &only) {
    dice d(seed_of(seed, 1));
    const auto kinds = kinds_of(only);
    program made{seed, ranks, {}};
    const bool loses = faults.kill || faults.silent;
    made.contexts.resize(loses ? 1 : d.between(std::size_t{1}, std::size_t{2}));
    for (context_plan &each : made.contexts) {
        each.options = random_options(d, base, faults.scarce);
        each.in_c = d.chance(50);
        for (int n = d.between(1, 4); n > 0; --n)
            each.phases.push_back(random_phase(d, kinds, each.options.devices, faults.slow));
    }
    if (loses && ranks > 1) {
        made.contexts.back().phases.back().victim = d.below(ranks);
        made.contexts.back().phases.back().silent = faults.silent;
        made.contexts.back().phases.back().barrier = true;
    }
    if (faults.stop && ranks > 1)
        for (phase_plan &each : made.contexts.back().phases)
            each.stopped = d.chance(60) ? d.below(ranks) : -1;
    for (phase_plan &each : made.contexts.back().phases)
        if (each.victim >= 0 &&
            each.victim == stopper(each, ranks)) // it may end before it continues the other
            each.stopped = -1;
    return made;
}

} // namespace fult::comm::testing

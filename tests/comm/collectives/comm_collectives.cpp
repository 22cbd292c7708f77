// The cases between processes. Started by fult-run; the exit status is the result.
#include <cstdio>
#include <exception>

#include "tests/comm/collectives/cases.hpp"

int main() {
    using namespace fult::comm::testing;
    const fult::runtime running;
    fult::comm::context net;
    party p{net.rank(), net.size(), net.world(),
            [&](fult::comm::endpoint_options how) { return net.make_endpoint(std::move(how)); },
            [&] { fult::comm::barrier(net.world()); }};
    for (const conformance_case &each : collective_cases()) {
        try {
            each.run(p);
        } catch (const std::exception &e) {
            std::fprintf(stderr, "%s: rank %d of %d: %s\n", each.name, p.rank, p.size, e.what());
            net.abort(1, each.name);
        }
        fult::comm::barrier(net.world());
        if (p.rank == 0)
            std::printf("ok %s\n", each.name);
    }
    return 0;
}

// A ring: each rank sends its number to the next one.
#include <cstdio>

#include <fult/comm.hpp>

int main() {
    fult::runtime runtime;
    fult::comm::context net; // a single rank if there is no launcher
    auto &world = net.world();
    const int next = (net.rank() + 1) % net.size(), before = (net.rank() + net.size() - 1) % net.size();
    auto sender = fult::spawn([&] { world.send(net.rank(), next, 1); });
    std::printf("rank %d heard from rank %d\n", net.rank(), world.recv<int>(before, 1));
    sender.join();
}

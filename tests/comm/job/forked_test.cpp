// Started by fult-run as two ranks. The children that a rank forks are no ranks: each call of theirs is
// refused, they may return from main, and neither the parent nor the other rank notices.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fult/comm.hpp>
#include <fult/fult.hpp>

#include "tests/support/in_child.hpp"

namespace {

using namespace fult::comm;

void demand(bool holds, const std::string &what) {
    if (holds)
        return;
    std::fprintf(stderr, "forked_test: %s\n", what.c_str());
    std::_Exit(1);
}

// The standard error of a child that makes this call, which does not return.
std::string said_by_child_in(const std::function<void()> &call) {
    const auto how = fult::testing::run_in_child(call);
    demand(how.has_value(), "no process, or no descriptor");
    demand(WIFSIGNALED(how->status) && WTERMSIG(how->status) == SIGABRT,
           "a child was not stopped; it said: " + how->said);
    return how->said;
}

void require_refusals(context &net, std::span<const remote_region> regions, request &open) {
    endpoint &world = net.world();
    long number = 5;
    const std::pair<const char *, std::function<void()>> calls[] = {
        {"send", [&] { world.send(number, 1, 1); }},
        {"isend", [&] { world.isend(std::span(&number, 1), 1, 1).wait(); }},
        {"enqueue", [&] { (void)world.enqueue(&number, sizeof number, 1, 1); }},
        {"recv", [&] { world.recv(number, 1, 1); }},
        {"irecv", [&] { world.irecv(std::span(&number, 1), 1, 1).wait(); }},
        {"probe", [&] { world.probe(1, 1); }},
        {"try_probe", [&] { (void)world.try_probe(1, 1); }},
        {"test", [&] { (void)open.test(); }},
        {"wait", [&] { open.wait(); }},
        {"cancel", [&] { open.cancel(); }},
        {"wait_all",
         [&] {
             wait_all({&open, 1});
         }},
        {"put", [&] { put(world, &number, sizeof number, regions[1], 0); }},
        {"get", [&] { get(world, &number, sizeof number, regions[1], 0); }},
        {"region", [&] { const region one(world, &number, sizeof number); }},
        {"subset",
         [&] {
             world.subset(std::array{0, 1});
         }},
        {"broadcast", [&] { broadcast(world, number, 0); }},
        {"synchronizer", [&] { synchronizer(world, 1).wait(); }},
        {"completion_queue", [&] { completion_queue(world).pop(); }},
        {"make_endpoint", [&] { net.make_endpoint(); }},
        {"barrier", [&] { barrier(world); }},
        {"progress", [&] { net.progress(); }},
        {"failed", [&] { net.has_failed(1); }},
        {"abort", [&] { net.abort(1, "never"); }},
        {"context", [] { const context another; }},
    };
    for (const auto &[name, call] : calls) {
        const std::string said = said_by_child_in(call);
        demand(said.find("fult: fork: this process was forked while a runtime was running") !=
                   std::string::npos,
               std::string(name) + " in a child: " + said);
    }
}

} // namespace

int main() {
    fult::runtime rt;
    context net;
    endpoint &world = net.world();
    endpoint another = net.make_endpoint();
    std::vector<long> memory(1000, net.rank());
    region own(world, memory);
    std::vector<remote_region> regions(static_cast<std::size_t>(net.size()));
    allgather(world, own.remote(), regions);
    long number = 0;
    request open = world.irecv(std::span(&number, 1), 1 - net.rank(), 2);
    if (net.rank() == 0) {
        require_refusals(net, regions, open);
        const pid_t child = ::fork();
        if (child == 0)
            return 7; // with all of the above: the context, its endpoints, a region and a request
        int status = 0;
        demand(::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7,
               "a child that returned from main has status " + std::to_string(status));
    }
    world.send(long{net.rank() + 10}, 1 - net.rank(), 2);
    open.wait();
    demand(number == 1 - net.rank() + 10, "the other rank's number is " + std::to_string(number));
    std::vector<long> got(memory.size());
    get(world, got, regions[static_cast<std::size_t>(1 - net.rank())]);
    demand(got[999] == 1 - net.rank(), "the other rank's memory");
    barrier(world);
    own = region();
    return 0;
}

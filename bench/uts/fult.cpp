#include <new>

#include "common/fult_version.hpp"
#include "uts/uts.hpp"

namespace {
using namespace bench;

uts::totals visit_children(const uts::node &here, unsigned count);

// Most nodes are leaves: they pay for no more than they need.
inline uts::totals visit(const uts::node &here) {
    const unsigned count = uts::child_count(here);
    if (count == 0)
        return {1, 1, std::uint64_t(here.depth)};
    return visit_children(here, count);
}

// A child is computed by its own task; of the parent it needs only the node, which lives until its children
// are joined.
auto spawn_child(const uts::node &parent, unsigned index) {
    return fult::spawn([&parent, index] { return visit(uts::child_node(parent, index)); });
}

[[gnu::noinline]] uts::totals visit_children(const uts::node &here, unsigned count) {
    // Exactly as many handles as there are children, on this task's stack: most nodes have few, a root may
    // have thousands. They need no destructor: all are joined.
    using handle = decltype(spawn_child(here, 0));
    handle *children = static_cast<handle *>(__builtin_alloca(count * sizeof(handle)));
    for (unsigned i = 0; i < count; ++i)
        ::new (static_cast<void *>(children + i)) handle(spawn_child(here, i));
    uts::totals sum{1, 0, 0};
    while (count > 0) // the newest first, as they are run
        sum.add(children[--count].join());
    return sum;
}
} // namespace

int main(int argc, char **argv) { return uts::uts_main(argc, argv, fult_version, visit); }

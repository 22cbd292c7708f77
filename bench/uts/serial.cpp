#include <cerrno>
#include <cstring>
#include <pthread.h>
#include <stdexcept>
#include <sys/mman.h>

#include "common/kernel.hpp"
#include "uts/uts.hpp"

namespace {
using namespace bench;

void visit(const uts::node &here, uts::totals &sum) {
    ++sum.nodes;
    if (sum.depth < std::uint64_t(here.depth))
        sum.depth = std::uint64_t(here.depth);
    const unsigned count = uts::child_count(here);
    if (count == 0)
        ++sum.leaves;
    for (unsigned i = 0; i < count; ++i)
        visit(uts::child_node(here, i), sum);
}

uts::totals search(const uts::node &root) {
    uts::totals sum;
    visit(root, sum);
    return sum;
}

// The deepest published tree has a million levels: the recursion gets a stack that is large enough. Only what
// it touches costs memory.
void on_large_stack(unsigned, const std::function<void()> &body) {
    constexpr std::size_t size = std::size_t{1} << 30;
    void *memory =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        throw std::runtime_error(std::string("no memory for a stack of 1 GiB: ") + std::strerror(errno));
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, memory, size);
    pthread_t thread;
    auto start = [](void *argument) -> void * {
        (*static_cast<const std::function<void()> *>(argument))();
        return nullptr;
    };
    const int status =
        pthread_create(&thread, &attributes, start, const_cast<std::function<void()> *>(&body));
    pthread_attr_destroy(&attributes);
    if (status != 0)
        throw std::runtime_error(std::string("no thread with a stack of 1 GiB: ") + std::strerror(status));
    pthread_join(thread, nullptr);
    munmap(memory, size);
}

constexpr version serial_version{"serial", 1, on_large_stack};
} // namespace

int main(int argc, char **argv) { return uts::uts_main(argc, argv, serial_version, search); }

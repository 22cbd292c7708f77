// Allocation, and errors that all ranks see.
#include <array>
#include <numeric>

#include "tests/global/cases.hpp"

namespace fult::global::testing {
namespace {

bool contains(const std::string &text, const std::string &word) {
    return text.find(word) != std::string::npos;
}

template <class F> void require_exhausted(int rank, std::uint64_t size, F call) {
    try {
        call();
    } catch (const heap_exhausted &e) {
        require_equal(e.rank(), rank, "rank of the error");
        require_equal(e.size(), size, "size of the error");
        const std::string text = e.what();
        require(contains(text, "rank " + std::to_string(rank)) &&
                    contains(text, std::to_string(size) + " bytes") && contains(text, "memory_options::heap"),
                text);
        return;
    }
    require(false, "no error");
}

void allocation(party &p) {
    memory m(p.world, {.heap = 1 << 16});
    require_equal(m.rank(), p.rank, "rank");
    require_equal(m.size(), p.size, "size");
    const auto numbers = m.allocate<std::uint64_t>(100);
    require_equal(numbers.rank(), p.rank, "rank of a pointer");
    require(numbers.offset() % alignof(std::uint64_t) == 0, "aligned");
    std::uint64_t *const here = m.local(numbers, 100);
    std::iota(here, here + 100, number_of(p.rank, 0));
    require_equal(m.get(numbers + 7), number_of(p.rank, 7), "what the owner wrote");
    require_equal(m.heap_in_use(), std::uint64_t{800}, "bytes in use");
    struct alignas(128) wide {
        char bytes[128];
    };
    require(m.allocate<wide>().offset() % 128 == 0, "aligned to 128");
    m.deallocate(numbers);
    m.deallocate(global_ptr<int>()); // ignored
    require(m.allocate<std::uint64_t>(100) == numbers, "freed memory is used again");
    require_throw<std::invalid_argument>([&] { m.deallocate(numbers + 1); });
    require_throw<std::invalid_argument>([&] { m.deallocate(global_ptr<int>((p.rank + 1) % 64, 0) + 4096); });
}

void exhaustion(party &p) {
    memory m(p.world, {.heap = 1 << 16});
    require_exhausted(p.rank, 1 << 17, [&] { (void)m.allocate<char>(1 << 17); });
    require_exhausted(p.rank, ~std::uint64_t{0}, [&] { (void)m.allocate<double>(~std::size_t{0} / 2); });
    std::vector<global_ptr<char>> all;
    for (int i = 0; i < 16; ++i)
        all.push_back(m.allocate<char>(4096));
    require_exhausted(p.rank, 1, [&] { (void)m.allocate<char>(); });
    m.deallocate(all[3]);
    m.deallocate(all[5]);
    require_exhausted(p.rank, 8192, [&] { (void)m.allocate<char>(8192); }); // not in one piece
    m.deallocate(all[4]);
    require_equal(m.heap_largest_free(), std::uint64_t{12288}, "the largest free part");
    require(m.allocate<char>(12288) == all[3], "neighbours have merged");
}

// Objects of all ranks: all succeed or all fail, with the name of the rank that has no room.
void exhaustion_on_one_rank(party &p) {
    memory m(p.world, {.heap = std::size_t{1} << (p.rank == 0 ? 16 : 17)});
    const int full = p.size - 1;
    const std::uint64_t bytes = 60'000;
    global_ptr<char> mine;
    if (p.rank == full)
        mine = m.allocate<char>(m.heap_size(p.rank) - 4096);
    m.barrier();
    require_exhausted(full, bytes, [&] { (void)m.allocate_symmetric(bytes, 8); });
    m.deallocate(mine);
    m.barrier();
    const std::uint64_t offset = m.allocate_symmetric(bytes, 8); // all had given it up
    require_equal(comm::allreduce(p.world, offset, [](auto a, auto b) { return std::max(a, b); }), offset,
                  "offset");
    require_exhausted(0, 1 << 16, [&] { (void)m.allocate_symmetric(1 << 16, 8); }); // of the smallest heap
    m.deallocate_symmetric(offset);
}

void impossible_heaps(party &p) {
    const bool odd = p.rank == p.size - 1;
    require_throw<std::length_error>([&] { memory m(p.world, {.heap = odd ? ~std::size_t{0} : 4096}); });
    try {
        memory m(p.world, {.heap = odd ? std::size_t{1} << 43 : 4096});
        require(!odd || m.heap_size(p.rank) == std::size_t{1} << 43, "the system overcommits");
    } catch (const heap_exhausted &e) {
        require_equal(e.rank(), p.size - 1, "rank of the error");
    }
    memory empty(p.world, {.heap = 0});
    require_exhausted(p.rank, 4, [&] { (void)empty.allocate<int>(); });
    memory again(p.world, {.heap = 4096});
    require_equal(again.heap_size(p.next()), std::uint64_t{4096}, "size of another heap");
    require_throw<std::out_of_range>([&] { (void)again.heap_size(p.size); });
}

// Two at a time, and over some of the ranks in another order.
void several_memories(party &p) {
    memory one(p.world, {.heap = 4096}), two(p.world, {.heap = 8192});
    const auto first = all_pointers(p, one.allocate<int>()), second = all_pointers(p, two.allocate<int>());
    one.put(first[static_cast<std::size_t>(p.next())], p.rank);
    two.put(second[static_cast<std::size_t>(p.next())], -p.rank);
    one.barrier();
    require_equal(one.get(first[static_cast<std::size_t>(p.rank)]), p.previous(), "in one");
    require_equal(two.get(second[static_cast<std::size_t>(p.rank)]), -p.previous(), "in two");
    std::vector<int> backwards(static_cast<std::size_t>(p.size));
    std::iota(backwards.rbegin(), backwards.rend(), 0);
    comm::endpoint other = p.world.subset(backwards, 7);
    memory three(other, {.heap = 4096});
    const global_variable<int> last(three, 0, p.rank);
    require_equal(last.get(), p.size - 1, "rank 0 of the other order");
}

constexpr conformance_case cases[] = {
    {"allocation", allocation},
    {"exhaustion", exhaustion},
    {"exhaustion_on_one_rank", exhaustion_on_one_rank},
    {"impossible_heaps", impossible_heaps},
    {"several_memories", several_memories},
};

} // namespace

std::span<const conformance_case> heap_cases() { return cases; }

} // namespace fult::global::testing

// Vectors and variables.
#include <algorithm>
#include <array>
#include <numeric>

#include "tests/global/cases.hpp"

namespace fult::global::testing {
namespace {

static_assert(std::random_access_iterator<vector_iterator<int>>);
static_assert(std::is_trivially_copyable_v<vector_layout<double>>);

// Where the elements are, counted one by one.
void layout_of(std::size_t size, std::size_t block, int ranks) {
    const vector_layout<int> view(64, size, block, ranks);
    std::vector<std::size_t> parts(static_cast<std::size_t>(ranks));
    for (std::size_t index = 0; index < size; ++index) {
        const int owner = static_cast<int>(index / block % static_cast<std::size_t>(ranks));
        require_equal(view.owner(index), owner, "owner");
        const std::size_t local = parts[static_cast<std::size_t>(owner)]++;
        require_equal(view.local_index(index), local, "position in the part");
        require_equal(view.global_index(owner, local), index, "index");
        require(view.pointer(index) == global_ptr<int>(owner, 64 + local * sizeof(int)), "pointer");
        require_equal(view.block_remainder(index), std::min(block - index % block, size - index),
                      "rest of the block");
    }
    for (int rank = 0; rank < ranks; ++rank) {
        require_equal(view.local_size(rank), parts[static_cast<std::size_t>(rank)], "size of a part");
        require(view.local_size(rank) <= view.local_size(0), "rank 0 has the largest part");
    }
}

void layouts(party &) {
    for (const std::size_t size : {0, 1, 2, 7, 24, 25, 100})
        for (const std::size_t block : {1, 2, 3, 8, 25, 1000})
            for (const int ranks : {1, 2, 3, 4, 7})
                layout_of(size, block, ranks);
}

void one_vector(party &p, memory &m, std::size_t size, distribution shape) {
    const global_vector<std::uint64_t> v(m, size, shape);
    require_equal(v.size(), size, "size");
    const auto here = v.local();
    require(std::all_of(here.begin(), here.end(), [](auto each) { return each == 0; }), "zero at first");
    for (std::size_t k = 0; k < here.size(); ++k) {
        const std::size_t index = v.view().global_index(p.rank, k);
        require_equal(v.owner(index), p.rank, "owner");
        here[k] = number_of(0, index);
    }
    m.barrier();
    std::vector<std::uint64_t> expected(size), got(size);
    for (std::size_t i = 0; i < size; ++i)
        expected[i] = number_of(0, i);
    v.get(0, got);
    require(got == expected, "all elements");
    require(std::equal(v.begin(), v.end(), expected.begin()), "by iterators");
    require(std::ranges::equal(v.begin(), v.end(), expected.begin(), expected.end()), "by ranges");
    const std::uint64_t sum = std::accumulate(v.begin(), v.end(), std::uint64_t{0});
    require_equal(sum, std::accumulate(expected.begin(), expected.end(), std::uint64_t{0}), "sum");
    m.barrier();
    // Each rank changes a part that begins and ends within blocks.
    const std::size_t parts = static_cast<std::size_t>(p.size), of = static_cast<std::size_t>(p.rank);
    const std::size_t first = size * of / parts, end = size * (of + 1) / parts;
    for (std::size_t i = first; i < end; ++i)
        expected[i] = number_of(p.rank + 1, i);
    v.put(first, std::span(expected).subspan(first, end - first));
    m.barrier();
    for (std::size_t i = 0; i < size; i += 5) {
        const int writer = static_cast<int>(((i + 1) * parts - 1) / size);
        require_equal(v.get(i), number_of(writer + 1, i), "element");
        require_equal(static_cast<std::uint64_t>(v[i]), number_of(writer + 1, i), "element by index");
    }
    require_throw<std::out_of_range>([&] { (void)v.get(size); });
    require_throw<std::out_of_range>([&] { v.get(1, got); });
    m.barrier();
    if (p.rank == 0 && size > 2) {
        v[2] = 1;
        v[1] = v[2];
        v.put(0, 5);
        require(v.get(0) == 5 && v.get(1) == 1, "by references");
        const auto i = v.begin() + 2;
        require(*i == 1 && i[-1] == 1 && i - v.begin() == 2 && i > v.begin() && *(i - 2) == 5, "an iterator");
    }
    m.barrier();
}

void vectors(party &p) {
    memory m(p.world, {.heap = 1 << 18});
    for (const std::size_t size : {0, 1, 3, 64, 1000})
        for (const distribution shape : {distribution::blocks(), distribution::block_cyclic(1),
                                         distribution::block_cyclic(7), distribution::block_cyclic(256)})
            one_vector(p, m, size, shape);
    require_equal(m.heap_in_use(), std::uint64_t{0}, "all is freed");
    global_vector<int> one(m, 10);
    const global_vector<int> moved = std::move(one);
    require_equal(moved.size(), std::size_t{10}, "size of the moved one");
    require_throw<heap_exhausted>([&] { global_vector<int> large(m, std::size_t{1} << 40); });
}

// A view that is sent leads to the same elements.
void views(party &p) {
    memory m(p.world, {.heap = 1 << 16});
    const global_vector<int> v(m, 100, distribution::block_cyclic(3));
    for (int &each : v.local())
        each = p.rank + 1;
    vector_layout<int> received;
    comm::request sent = p.world.isend(v.view(), p.next(), 1);
    p.world.recv(received, p.previous(), 1);
    sent.wait();
    m.barrier();
    for (std::size_t i = 0; i < received.size(); i += 7)
        require_equal(m.get(received.pointer(i)), received.owner(i) + 1, "element");
    m.barrier();
}

void variables(party &p) {
    memory m(p.world, {.heap = 1 << 16});
    for (int owner = 0; owner < p.size; ++owner) {
        const global_variable<std::array<int, 3>> v(m, owner, {p.rank, 2, 3});
        require_equal(v.owner(), owner, "owner");
        require_equal(v.get()[0], owner, "the owner's value");
        require_equal(m.get(v.pointer())[2], 3, "through the pointer");
        m.barrier();
        if (p.rank == owner) {
            v.set({7, 8, 9});
            (*v.local())[1] = -1;
        } else {
            require_throw<std::logic_error>([&] { v.set({}); });
        }
        m.barrier();
        require(v.get() == std::array{7, -1, 9}, "the new value");
        m.barrier();
    }
    require_equal(m.heap_in_use(), std::uint64_t{0}, "all is freed");
    require_throw<std::out_of_range>([&] { const global_variable<int> v(m, p.size, 0); });
}

constexpr conformance_case cases[] = {
    {"layouts", layouts}, {"vectors", vectors}, {"views", views}, {"variables", variables}};

} // namespace

std::span<const conformance_case> container_cases() { return cases; }

} // namespace fult::global::testing

// The three graphs: as many nodes and arcs as NAS's, and their shapes.
#include <algorithm>
#include <gtest/gtest.h>
#include <ostream>
#include <vector>

#include "apps/dt/problem.hpp"

namespace dt {
namespace {

struct size {
    std::size_t nodes, arcs;
    bool operator==(const size &) const = default;
    friend std::ostream &operator<<(std::ostream &out, const size &s) {
        return out << s.nodes << " nodes, " << s.arcs << " arcs";
    }
};
size size_of(shape form, char name) {
    const graph made = make_graph(form, find_problem(name).value().width);
    return {made.nodes().size(), made.arcs().size()};
}

std::ptrdiff_t count(const graph &of, role wanted) {
    return std::count_if(of.nodes().begin(), of.nodes().end(),
                         [&](const node &each) { return each.does == wanted; });
}

TEST(Graph, HasTheSizeOfItsClass) {
    for (const shape form : {shape::black_hole, shape::white_hole}) {
        EXPECT_EQ(size_of(form, 'S'), (size{5, 4}));
        EXPECT_EQ(size_of(form, 'W'), (size{11, 10}));
        EXPECT_EQ(size_of(form, 'A'), (size{21, 20}));
        EXPECT_EQ(size_of(form, 'B'), (size{43, 42}));
    }
    EXPECT_EQ(size_of(shape::shuffle, 'S'), (size{12, 16}));
    EXPECT_EQ(size_of(shape::shuffle, 'W'), (size{32, 48}));
    EXPECT_EQ(size_of(shape::shuffle, 'A'), (size{80, 128}));
    EXPECT_EQ(size_of(shape::shuffle, 'B'), (size{192, 320}));
}

TEST(Graph, HasItsSourcesAndSinks) {
    EXPECT_EQ(count(make_graph(shape::black_hole, 16), role::source), 16);
    EXPECT_EQ(count(make_graph(shape::black_hole, 16), role::sink), 1);
    EXPECT_EQ(count(make_graph(shape::white_hole, 16), role::source), 1);
    EXPECT_EQ(count(make_graph(shape::white_hole, 16), role::sink), 16);
    EXPECT_EQ(count(make_graph(shape::shuffle, 16), role::source), 16);
    EXPECT_EQ(count(make_graph(shape::shuffle, 16), role::sink), 16);
}

TEST(Graph, LeadsFromLowerNodesToHigherOnes) {
    for (const shape form : {shape::black_hole, shape::white_hole, shape::shuffle})
        for (const int width : {4, 8, 16, 32}) {
            const graph made = make_graph(form, width);
            for (const arc &each : made.arcs())
                EXPECT_LT(each.tail, each.head) << short_name(form) << ' ' << width;
            for (const node &each : made.nodes()) {
                EXPECT_EQ(each.in.empty(), each.does == role::source);
                EXPECT_EQ(each.out.empty(), each.does == role::sink);
                EXPECT_LE(each.in.size(), form == shape::white_hole ? 1u : 4u);
                for (const int in : each.in)
                    EXPECT_EQ(made.arcs()[std::size_t(in)].head, each.id);
                for (const int out : each.out)
                    EXPECT_EQ(made.arcs()[std::size_t(out)].tail, each.id);
            }
        }
}

// Every source has exactly one path to each sink.
TEST(Graph, ShufflesEachSourceToEachSink) {
    const graph made = make_graph(shape::shuffle, 16);
    for (int source = 0; source < 16; ++source) {
        std::vector<int> paths(made.nodes().size(), 0);
        paths[std::size_t(source)] = 1;
        for (const node &each : made.nodes())
            for (const int in : each.in)
                paths[std::size_t(each.id)] += paths[std::size_t(made.arcs()[std::size_t(in)].tail)];
        for (const node &each : made.nodes())
            if (each.does == role::sink) {
                EXPECT_EQ(paths[std::size_t(each.id)], 1);
            }
    }
}

TEST(Graph, IsItselfIfMirroredTwice) {
    const graph made = make_graph(shape::black_hole, 32), again = made.mirrored().mirrored();
    ASSERT_EQ(again.nodes().size(), made.nodes().size());
    for (std::size_t i = 0; i < made.nodes().size(); ++i) {
        EXPECT_EQ(again.nodes()[i].does, made.nodes()[i].does);
        EXPECT_EQ(again.nodes()[i].in, made.nodes()[i].in);
        EXPECT_EQ(again.nodes()[i].out, made.nodes()[i].out);
    }
}

} // namespace
} // namespace dt

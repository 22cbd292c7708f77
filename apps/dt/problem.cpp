#include "problem.hpp"

#include <array>
#include <cstddef>

namespace dt {
namespace {

struct row {
    problem given;
    std::array<double, 3> checksums; // of a black hole, a white hole, a shuffle
};

constexpr std::array<row, 4> classes{{
    {{'S', 1728, 128, 4}, {30892725, 67349758, 58875767}},
    {{'W', 1728 * 8, 128 * 2, 8}, {4102461, 204280762, 186944764}},
    {{'A', 1728 * 64, 128 * 4, 16}, {17809491, 1289925229, 610856482}},
    {{'B', 1728 * 512, 128 * 8, 32}, {4317114, 7877279917, 1836863082}},
}};

} // namespace

std::optional<problem> find_problem(char name) {
    for (const row &each : classes)
        if (each.given.name == name)
            return each.given;
    return std::nullopt;
}

double verified_checksum(shape form, const problem &given) {
    for (const row &each : classes)
        if (each.given.name == given.name)
            return each.checksums[std::size_t(form)];
    return 0;
}

} // namespace dt

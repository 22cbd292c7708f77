// Streams of features: samples of four numbers each. The arithmetic is that of NAS (NPB 3.3, DT/dt.c),
// rounding and truncation included, since the checksums depend on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "problem.hpp"

namespace dt {

inline constexpr std::size_t fields = 4; // of a sample

using features = std::vector<double>;

// base^exponent modulo `modulus`, with products that wrap at 32 bits: the result has the sign of the last
// one.
std::int32_t wrapped_power(std::int32_t base, std::int64_t exponent, std::int32_t modulus);

// How many samples a source sends.
std::size_t sample_count(const problem &given, int source);

// What a source sends.
features random_features(const problem &given, int source);

// Spreads a stream over `length` numbers, which must not be fewer.
features resampled(const features &stream, std::size_t length);

// Combines a stream into what a node keeps: each sample becomes the nearest of the stream's samples beside
// it, weighted by the node's number. The shorter of the two is resampled first.
void filter(features &kept, features stream, int node);

// The integral part of each number, divided by the number of streams without remainder.
void average(features &kept, std::size_t streams);

// The mean of the squares.
double mean_square(const features &stream);

} // namespace dt

#include "features.hpp"

#include <array>
#include <cmath>
#include <cstdlib>

namespace dt {
namespace {

std::int32_t wrapped_product(std::int32_t a, std::int32_t b) {
    return std::int32_t(std::uint32_t(a) * std::uint32_t(b));
}

// The first number of NAS's generator randlc from the seed 314159265: seed * multiplier modulo 2^46, as a
// fraction.
double first_random(std::uint64_t multiplier) {
    constexpr std::uint64_t seed = 314159265, modulus = std::uint64_t{1} << 46;
    return std::ldexp(double(seed * multiplier % modulus), -46);
}

// The squared distance of the samples at a and b.
double distance(const double *a, const double *b) {
    const double d0 = a[0] - b[0], d1 = a[1] - b[1], d2 = a[2] - b[2], d3 = a[3] - b[3];
    return d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3;
}

} // namespace

std::int32_t wrapped_power(std::int32_t base, std::int64_t exponent, std::int32_t modulus) {
    if (exponent == 0)
        return 1;
    std::int32_t square = base, result = 1;
    while (exponent > 1) {
        if (exponent % 2 == 0) {
            square = wrapped_product(square, square) % modulus;
            exponent /= 2;
        } else {
            result = wrapped_product(result, square) % modulus;
            --exponent;
        }
    }
    return wrapped_product(result, square) % modulus;
}

std::size_t sample_count(const problem &given, int source) {
    const std::int32_t odd = 2 * source + 1;
    const auto base = std::int32_t(1 / first_random(std::uint64_t(odd)));
    const std::int32_t more = wrapped_power(wrapped_product(base, 'S'), odd, 2 * given.deviation);
    return std::size_t(given.samples - given.deviation + std::abs(more));
}

features random_features(const problem &given, int source) {
    // Powers of small generators modulo primes.
    struct sequence {
        std::int32_t generator, prime, value;
    };
    std::array<sequence, fields> random{{{2, 421, 0}, {2, 419, 0}, {2, 1427, 0}, {5, 3527, 0}}};
    const std::size_t length = sample_count(given, source) * fields;
    const auto start = std::int64_t(length) * (source + 1) % 3141592;
    for (sequence &each : random)
        each.value = wrapped_power(each.generator, start, each.prime);
    features made(length);
    for (std::size_t i = 0; i < length; ++i) {
        sequence &each = random[i % fields];
        each.value = each.value * each.generator % each.prime;
        made[i] = each.value;
    }
    return made;
}

features resampled(const features &stream, std::size_t length) {
    const std::size_t ratio = length / stream.size();
    features made(length, 0.0);
    for (std::size_t i = 1; i + 1 < stream.size(); ++i) {
        const std::size_t low = (2 * i - 1) * ratio / 2, high = (2 * i + 1) * ratio / 2;
        const double part = stream[i] / double(high - low + 1);
        for (std::size_t j = low; j <= high; ++j)
            made[j] += part;
    }
    made.front() = stream.front();
    made.back() = stream.back();
    return made;
}

void filter(features &kept, features stream, int node) {
    const double weight = double(node + 1) / (node + 2);
    if (kept.size() < stream.size())
        kept = resampled(kept, stream.size());
    else if (stream.size() < kept.size())
        stream = resampled(stream, kept.size());
    for (std::size_t i = fields; i + fields < kept.size(); i += fields) {
        const double *nearest = &stream[i];
        double least = distance(&kept[i], nearest);
        // The sample before is compared with where it lies itself, and so is the one behind: it is not yet
        // replaced.
        const double behind = distance(&kept[i + fields], &stream[i + fields]);
        if (behind < least) {
            nearest = &stream[i + fields];
            least = behind;
        }
        if (distance(&kept[i - fields], &stream[i - fields]) < least)
            nearest = &stream[i - fields];
        for (std::size_t field = 0; field < fields; ++field)
            kept[i + field] = weight * nearest[field];
    }
}

void average(features &kept, std::size_t streams) {
    for (double &each : kept)
        each = int(each) / int(streams);
}

double mean_square(const features &stream) {
    double sum = 0;
    for (const double each : stream)
        sum += each * each / double(stream.size());
    return sum;
}

} // namespace dt

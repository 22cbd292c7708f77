// Collective exchanges that both versions share. A `Ranks` has, beside rank() and size(), for trivially
// copyable T:
//   std::int64_t sum(std::int64_t mine)       of all ranks
//   std::int64_t largest(std::int64_t mine)
//   std::vector<T> exchange(const std::vector<T> &out, const std::vector<std::size_t> &counts,
//                           std::vector<std::size_t> &arrived)
//       `out` holds counts[r] elements for each rank r, in order; returns those that the ranks sent here,
//       arrived[r] from each, in order
// All ranks make the same calls.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "partition.hpp"

namespace bfs {

// Elements sorted by the rank that they are for.
template <class T> class parcels {
  public:
    template <class Range, class RankOf> parcels(int ranks, const Range &items, const RankOf &rank_of) {
        counts.resize(std::size_t(ranks));
        for (const T &each : items)
            ++counts[std::size_t(rank_of(each))];
        std::vector<std::size_t> next(counts.size());
        for (std::size_t r = 1; r < next.size(); ++r)
            next[r] = next[r - 1] + counts[r - 1];
        elements.resize(items.size());
        places.reserve(items.size());
        for (const T &each : items) {
            const std::size_t place = next[std::size_t(rank_of(each))]++;
            elements[place] = each;
            places.push_back(place);
        }
    }
    std::vector<T> elements;
    std::vector<std::size_t> counts; // for each rank
    std::vector<std::size_t> places; // of each item, in their order, among the elements
};

// Sends each item to the rank that it is for, and returns those that arrive.
template <class T, class Ranks, class RankOf>
std::vector<T> deliver(Ranks &ranks, const std::vector<T> &items, const RankOf &rank_of) {
    const parcels<T> out(ranks.size(), items, rank_of);
    std::vector<std::size_t> arrived;
    return ranks.exchange(out.elements, out.counts, arrived);
}

// Asks the owners of vertices: the result holds answer(local number) of each, in order.
template <class Ranks, class Answer>
auto ask_owners(Ranks &ranks, const partition &among, const std::vector<vertex> &about,
                const Answer &answer) {
    using value = std::decay_t<decltype(answer(std::size_t{}))>;
    const parcels<vertex> out(ranks.size(), about, [&](vertex v) { return among.owner(v); });
    std::vector<std::size_t> arrived, returned;
    const std::vector<vertex> questions = ranks.exchange(out.elements, out.counts, arrived);
    std::vector<value> answers;
    answers.reserve(questions.size());
    for (const vertex v : questions)
        answers.push_back(answer(among.local(v)));
    const std::vector<value> sorted = ranks.exchange(answers, arrived, returned);
    std::vector<value> result;
    result.reserve(about.size());
    for (const std::size_t place : out.places)
        result.push_back(sorted[place]);
    return result;
}

// Calls work(part) with parts of a list, as many times on each rank, though their lists have different
// lengths.
template <class Ranks, class T, class Work>
void in_batches(Ranks &ranks, std::span<const T> list, const Work &work) {
    constexpr std::size_t batch = std::size_t{1} << 17;
    const std::int64_t rounds = ranks.largest(std::int64_t((list.size() + batch - 1) / batch));
    for (std::int64_t k = 0; k < rounds; ++k) {
        const std::size_t begin = std::min(list.size(), std::size_t(k) * batch);
        work(list.subspan(begin, std::min(batch, list.size() - begin)));
    }
}

} // namespace bfs

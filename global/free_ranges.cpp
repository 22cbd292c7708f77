#include "global/free_ranges.hpp"

#include <iterator>

#include <fult/detail/assertion.hpp>

namespace fult::global::detail {

namespace {

std::uint64_t rounded_up(std::uint64_t value, std::uint64_t to) noexcept {
    return (value + to - 1) / to * to;
}

} // namespace

std::uint64_t free_ranges::rounded(std::uint64_t size) noexcept {
    return size == 0 ? granule : rounded_up(size, granule);
}

free_ranges::entry::entry(std::uint64_t offset, std::uint64_t size) {
    if (size == 0)
        return;
    FULT_ASSERT(size % granule == 0 && offset % granule == 0, "ranges are of whole granules");
    by_offset.emplace(offset, size);
    by_size.emplace(size, offset);
}

free_ranges::free_ranges(std::uint64_t size) {
    entry all(0, size / granule * granule);
    add(all);
}

void free_ranges::add(entry &made) noexcept {
    if (made.by_offset.empty())
        return;
    free_ += made.by_offset.begin()->second;
    by_offset_.merge(made.by_offset);
    by_size_.merge(made.by_size);
    FULT_ASSERT(made.by_offset.empty() && made.by_size.empty(), "no two ranges begin at one place");
}

void free_ranges::remove(range which) noexcept {
    free_ -= which->second;
    by_size_.erase({which->second, which->first});
    by_offset_.erase(which);
}

// What is left before and behind the part stays free.
void free_ranges::take(range which, std::uint64_t offset, std::uint64_t size) {
    const auto [begin, all] = *which;
    FULT_ASSERT(begin <= offset && offset + size <= begin + all, "the part lies in the range");
    entry before(begin, offset - begin), behind(offset + size, begin + all - offset - size);
    remove(which);
    add(before);
    add(behind);
}

std::optional<std::uint64_t> free_ranges::allocate_low(std::uint64_t size, std::uint64_t alignment) {
    for (auto fits = by_size_.lower_bound({size, 0}); fits != by_size_.end(); ++fits) {
        const auto [all, begin] = *fits;
        const std::uint64_t offset = rounded_up(begin, alignment);
        if (offset + size <= begin + all) {
            take(by_offset_.find(begin), offset, size);
            return offset;
        }
    }
    return std::nullopt;
}

std::optional<std::uint64_t> free_ranges::allocate_high(std::uint64_t size, std::uint64_t alignment) {
    for (auto each = by_offset_.rbegin(); each != by_offset_.rend(); ++each) {
        const auto [begin, all] = *each;
        if (all < size)
            continue;
        const std::uint64_t offset = (begin + all - size) / alignment * alignment;
        if (offset >= begin) {
            take(std::prev(each.base()), offset, size);
            return offset;
        }
    }
    return std::nullopt;
}

bool free_ranges::reserve(std::uint64_t offset, std::uint64_t size) {
    auto which = by_offset_.upper_bound(offset);
    if (which == by_offset_.begin())
        return false;
    --which;
    if (offset + size > which->first + which->second)
        return false;
    take(which, offset, size);
    return true;
}

void free_ranges::release(std::uint64_t offset, std::uint64_t size) {
    auto after = by_offset_.lower_bound(offset);
    auto before = after == by_offset_.begin() ? by_offset_.end() : std::prev(after);
    std::uint64_t begin = offset, end = offset + size;
    FULT_ASSERT(before == by_offset_.end() || before->first + before->second <= begin, "it was not free");
    FULT_ASSERT(after == by_offset_.end() || end <= after->first, "it was not free");
    if (before != by_offset_.end() && before->first + before->second == begin)
        begin = before->first;
    else
        before = by_offset_.end();
    if (after != by_offset_.end() && after->first == end)
        end += after->second;
    else
        after = by_offset_.end();
    entry merged(begin, end - begin);
    for (const range neighbour : {before, after})
        if (neighbour != by_offset_.end())
            remove(neighbour);
    add(merged);
}

} // namespace fult::global::detail

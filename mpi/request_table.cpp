#include "request_table.hpp"

#include <algorithm>
#include <functional>
#include <new>
#include <utility>

#include "below.hpp"
#include "error_route.hpp"

namespace fult::mpi {
namespace {

// As MPI_Wait stores it: the error of a single status is not changed.
void store_status(MPI_Status *to, const MPI_Status &from) noexcept {
    if (to == MPI_STATUS_IGNORE)
        return;
    const int error = to->MPI_ERROR;
    *to = from;
    to->MPI_ERROR = error;
}

} // namespace

bool request_table::reserve(std::size_t more) noexcept {
    const std::size_t size = handles_.size() + more;
    if (size <= handles_.capacity() && size <= parts_.capacity())
        return true;
    try {
        handles_.reserve(2 * size);
        parts_.reserve(2 * size);
        return true;
    } catch (const std::bad_alloc &) {
        return false;
    }
}

void request_table::add(part &which) noexcept {
    FULT_ASSERT(handles_.size() < handles_.capacity() && parts_.size() < parts_.capacity());
    FULT_ASSERT(handles_.size() == parts_.size());
    handles_.push_back(which.handle);
    parts_.push_back(&which);
}

// The last one takes its place.
void request_table::end(std::size_t which, int code, completed_operations &complete) noexcept {
    part &its = *parts_[which];
    its.handle = handles_[which];
    handles_[which] = handles_.back();
    parts_[which] = parts_.back();
    handles_.pop_back();
    parts_.pop_back();
    operation &whole = *its.of;
    if (whole.end_part(its, code))
        complete.add(whole);
}

void request_table::test(completed_operations &complete) noexcept {
    const std::size_t once = one_by_one_ ? max_one_by_one : in_turn;
    if (handles_.size() <= once)
        return test_range(0, handles_.size(), complete);
    const std::size_t recent = std::min(newest, once / 2);
    test_range(handles_.size() - recent, recent, complete);
    if (turn_ >= handles_.size())
        turn_ = 0;
    const std::size_t count = std::min(once, handles_.size() - turn_), from = turn_;
    turn_ += count; // what takes the place of a complete one has its turn in the next round
    test_range(from, count, complete);
}

void request_table::test_range(std::size_t from, std::size_t count, completed_operations &complete) noexcept {
    if (one_by_one_ || count == 1)
        test_each(from, count, complete);
    else if (count != 0)
        test_together(from, count, complete);
}

void request_table::test_each(std::size_t from, std::size_t count, completed_operations &complete) noexcept {
    error_route errors(one_by_one_);
    for (std::size_t i = from + count; i-- > from;) { // downwards: an end moves the last one
        int flag = 0;
        const int code = FULT_BELOW(Test)(&handles_[i], &flag, parts_[i]->status);
        errors.forward(code, parts_[i]->of->facts);
        if (flag || code != MPI_SUCCESS)
            end(i, code, complete);
    }
}

void request_table::test_together(std::size_t from, std::size_t count,
                                  completed_operations &complete) noexcept {
    FULT_ASSERT(count <= std::max(newest, in_turn));
    int indices[std::max(newest, in_turn)];
    MPI_Status statuses[std::max(newest, in_turn)];
    int ended = 0;
    const int code =
        FULT_BELOW(Testsome)(static_cast<int>(count), handles_.data() + from, &ended, indices, statuses);
    if (ended == MPI_UNDEFINED)
        return;
    // each has an error of its own only if one of them failed
    const bool failed = code == MPI_ERR_IN_STATUS;
    std::pair<int, int> ends[std::max(newest, in_turn)]; // index and error
    for (int i = 0; i < ended; ++i) {
        ends[i] = {indices[i], failed ? statuses[i].MPI_ERROR : MPI_SUCCESS};
        store_status(parts_[from + static_cast<std::size_t>(indices[i])]->status, statuses[i]);
    }
    std::sort(ends, ends + ended, std::greater<>()); // downwards, as above
    for (int i = 0; i < ended; ++i)
        end(from + static_cast<std::size_t>(ends[i].first), ends[i].second, complete);
}

} // namespace fult::mpi

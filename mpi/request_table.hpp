// The requests under way, side by side, so that MPI can test many of them in one call.
#pragma once

#include <cstddef>
#include <vector>

#include "abi.hpp"
#include "completed.hpp"
#include "operation.hpp"

namespace fult::mpi {

// All under the entry_lock.
class request_table {
  public:
    // Room for more parts; false: no memory.
    bool reserve(std::size_t more) noexcept;
    void add(part &which) noexcept; // into reserved room

    // Tests some of the requests, the newest and some of the others in turn. Operations that are complete are
    // added to `complete`.
    void test(completed_operations &complete) noexcept;

    template <class Visitor> void for_each_operation(Visitor visit) const {
        for (const part *each : parts_)
            if (each->is_first_left())
                visit(*each->of);
    }

    // The program may get errors back: from now on each request is tested by itself. By MPI_Testsome an MPI
    // may call the error handler of another communicator.
    void errors_may_return() noexcept { one_by_one_ = true; }
    bool may_errors_return() const noexcept { return one_by_one_; }

  private:
    static constexpr std::size_t newest = 32, in_turn = 96; // tested at once
    static constexpr std::size_t max_one_by_one = 24;

    void test_range(std::size_t from, std::size_t count, completed_operations &complete) noexcept;
    void test_each(std::size_t from, std::size_t count, completed_operations &complete) noexcept;
    void test_together(std::size_t from, std::size_t count, completed_operations &complete) noexcept;
    void end(std::size_t which, int code, completed_operations &complete) noexcept;

    // of equal length: what MPI tests, and whose it is
    std::vector<MPI_Request> handles_;
    std::vector<part *> parts_;
    std::size_t turn_ = 0; // where the tests in turn go on
    bool one_by_one_ = false;
};

} // namespace fult::mpi

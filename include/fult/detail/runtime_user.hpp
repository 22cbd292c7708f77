// A library that uses whatever runtime runs, and keeps facts about it: fult-omp. Internal.
#pragma once

#include <stdexcept>

#include <fult/detail/platform.hpp>

namespace fult::detail {

/// What a start throws where a runtime runs, starts or ends.
class FULT_API runtime_is_taken : public std::logic_error {
  public:
    using std::logic_error::logic_error;
    runtime_is_taken(const runtime_is_taken &) = default;
    runtime_is_taken &operator=(const runtime_is_taken &) = default;
    ~runtime_is_taken() override;
};

class FULT_API runtime_user {
  public:
    /// Why the caller, which is about to end the runtime, must not do that here: ends the program with this
    /// text. Null: it may. This and the next two are called by the main task.
    virtual const char *objection() const noexcept = 0;
    /// The runtime is about to end: nothing is to begin in it.
    virtual void ends() noexcept = 0;
    /// True while something that has begun in it, on foreign threads, goes on: the end waits for that.
    virtual bool is_in_use() const noexcept = 0;
    /// It has ended: no worker is left. No other one has started, and none can before this returns.
    virtual void ended() noexcept = 0;

  protected:
    runtime_user() = default;
    runtime_user(const runtime_user &) = default;
    runtime_user &operator=(const runtime_user &) = default;
    ~runtime_user() = default;
};

/// The only one of the process, for good; before any runtime starts that it uses.
FULT_API void set_runtime_user(runtime_user &user) noexcept;

} // namespace fult::detail

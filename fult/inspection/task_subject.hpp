// The registered finder, and the text of a subject.
#pragma once

#include <map>
#include <string>

#include <fult/detail/task_subject.hpp>

#include "fult/base/symbols.hpp"

namespace fult::detail {

struct task;

// What a task is for. t may run or end at the same time. Async-signal-safe.
task_subject subject_of(const task *t) noexcept;

// Names of the tasks of one report. A program has many tasks and few functions: each name is looked up once.
class subject_names {
  public:
    // "OpenMP task of main", or an empty text. t may run or end at the same time.
    const std::string &name_of(const task *t);

  private:
    const std::string &text_of(const task_subject &subject);

    symbols symbols_;
    std::map<std::pair<const char *, const void *>, std::string> known_;
    const std::string none_;
};

} // namespace fult::detail

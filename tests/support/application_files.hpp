// Input files of applications' tests, and the messages with which an application refuses them.
#pragma once

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <unistd.h>

#include "apps/support/failure.hpp"
#include "tests/support/unique.hpp"

namespace fult::testing {

// A file of this test alone, which is removed when the test ends.
class temporary_file {
  public:
    explicit temporary_file(const std::string &text = {}) {
        path_ = ::testing::TempDir() + "application_test." + unique_name() + "." + std::to_string(++made_);
        std::ofstream(path_) << text;
    }
    temporary_file(const temporary_file &) = delete;
    temporary_file &operator=(const temporary_file &) = delete;
    ~temporary_file() { ::unlink(path_.c_str()); }

    const std::string &path() const { return path_; }
    std::string text() const {
        std::ifstream in(path_);
        return {std::istreambuf_iterator<char>(in), {}};
    }

  private:
    static inline int made_ = 0;
    std::string path_;
};

// The message of the failure that the call ends with; empty if it ends without.
template <class Call> std::string message_of(const Call &call) {
    try {
        call();
    } catch (const apps::failure &error) {
        return error.what();
    }
    return {};
}

} // namespace fult::testing

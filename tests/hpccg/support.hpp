// What the tests of HPCCG share.
#pragma once

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <unistd.h>

#include "apps/hpccg/memory.hpp"
#include "tests/support/unique.hpp"

namespace hpccg::testing {

// A file of this test alone, gone when the test ends.
class temporary_file {
  public:
    explicit temporary_file(const std::string &text = {}) {
        path_ = ::testing::TempDir() + "hpccg_test." + fult::testing::unique_name() + "." +
                std::to_string(++made_);
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

// The message of the failure that the call ends with; empty where it ends without.
template <class Call> std::string message_of(Call call) {
    try {
        call();
    } catch (const failure &error) {
        return error.what();
    }
    return {};
}

} // namespace hpccg::testing

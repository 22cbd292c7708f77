// What ends a program with a message for its user.
#pragma once

#include <stdexcept>

namespace apps {

// Bad input, or too little memory.
class failure : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

} // namespace apps

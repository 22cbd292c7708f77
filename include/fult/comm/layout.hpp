/// @file
/// Messages whose bytes do not lie in one piece.
#pragma once

#include <fult/detail/language.hpp>

#include <cstddef>

namespace fult::comm {

/// Where the bytes of a message come from. The library reads each byte once, in order, straight into packets:
/// a part of the message at a time. The object must live until the operation is complete.
///
/// The functions may be called by another thread than the one that began the operation, while it holds an
/// internal lock: they must not call the library, suspend or block.
class message_source {
  public:
    /// Copies `size` bytes of the message, from byte `offset` on, to `to`.
    virtual void read(std::size_t offset, std::byte *to, std::size_t size) const noexcept = 0;

  protected:
    ~message_source() = default;
};

/// Where the bytes of a message go. As for message_source: each byte is written once, and parts may come in
/// any order.
class message_target {
  public:
    /// Stores bytes of the message, from byte `offset` on.
    virtual void write(std::size_t offset, const std::byte *from, std::size_t size) noexcept = 0;

  protected:
    ~message_target() = default;
};

} // namespace fult::comm

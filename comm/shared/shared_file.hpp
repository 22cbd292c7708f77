// Files in /dev/shm, and memory that is mapped from them.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

namespace fult::comm::detail {

// A file descriptor.
class file {
  public:
    file() = default;
    explicit file(int descriptor) noexcept : descriptor_(descriptor) {}
    file(file &&from) noexcept : descriptor_(std::exchange(from.descriptor_, -1)) {}
    file &operator=(file &&from) noexcept {
        std::swap(descriptor_, from.descriptor_);
        return *this;
    }
    ~file();
    int get() const noexcept { return descriptor_; }

  private:
    int descriptor_ = -1;
};

enum class access_to_file { read, write };

// A memory mapping of a part of a file, shared with the other ranks that map it.
class mapping {
  public:
    mapping() = default;
    mapping(const file &from, std::size_t offset, std::size_t size, const std::string &name,
            access_to_file access = access_to_file::write); // throws std::system_error
    mapping(mapping &&from) noexcept : at_(std::exchange(from.at_, nullptr)), size_(from.size_) {}
    mapping &operator=(mapping &&from) noexcept {
        std::swap(at_, from.at_);
        std::swap(size_, from.size_);
        return *this;
    }
    ~mapping();

    std::byte *at() const noexcept { return at_; }

  private:
    std::byte *at_ = nullptr;
    std::size_t size_ = 0;
};

// Creates the file with zero bytes, all of which are allocated; replaces remains of an earlier process.
// Throws std::system_error, ENOSPC if there is not enough memory. `without`: the option that does without it,
// if there is one.
file create_shared_file(const std::string &name, std::size_t bytes, const std::string &without = {});
// Throws std::system_error with the remedy if it is missing.
file open_shared_file(const std::string &name, access_to_file access, const std::string &remedy);
// Needs no memory.
void remove_shared_file(const std::string &name) noexcept;

} // namespace fult::comm::detail

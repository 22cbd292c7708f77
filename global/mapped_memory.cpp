#include "global/mapped_memory.hpp"

#include <cstdio>
#include <fcntl.h>
#include <limits>
#include <string_view>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fult/detail/assertion.hpp>

namespace fult::global::detail {

namespace {

// The name of a file that is only memory. It is in no folder, so nothing of it remains if the process is
// killed.
struct file_name {
    char text[48];
    explicit file_name(std::uint64_t token) noexcept {
        std::snprintf(text, sizeof text, "fult-heap-%016llx", static_cast<unsigned long long>(token));
    }
};

std::byte *map(std::size_t size, int flags, int descriptor) noexcept {
    void *const got = mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, descriptor, 0);
    return got != MAP_FAILED ? static_cast<std::byte *>(got) : nullptr;
}

std::uint64_t random_token() noexcept {
    std::uint64_t token = 0;
    return getrandom(&token, sizeof token, GRND_NONBLOCK) == sizeof token ? token : 0;
}

// A size beyond the limit would end the process by SIGXFSZ.
bool is_allowed(std::size_t file_size) noexcept {
    rlimit most{};
    return getrlimit(RLIMIT_FSIZE, &most) == 0 && file_size <= most.rlim_cur;
}

// The heaps of all ranks of the host should not use up what is left for this process's own memory.
bool is_address_space_limited() noexcept {
    rlimit most{};
    return getrlimit(RLIMIT_AS, &most) != 0 || most.rlim_cur != RLIM_INFINITY;
}

// Then a mapping of private memory reserves what it may need. A file does not: its first write may find no
// memory.
bool is_memory_reserved() noexcept {
    char policy = '0';
    const int opened = open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
    if (opened < 0)
        return false;
    const bool known = read(opened, &policy, 1) == 1;
    close(opened);
    return known && policy == '2';
}

// Of a size that does not change any more: a process that shortens it would end those that access it. -1 if
// the system has no such files, or no room.
int make_file(const char *name, std::size_t size) noexcept {
    if (!is_allowed(size) || is_memory_reserved())
        return -1;
    const int made = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (made < 0)
        return -1;
    if (ftruncate(made, static_cast<off_t>(size)) == 0 &&
        fcntl(made, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return made;
    close(made);
    return -1;
}

// The link shows what is open there: on another host, or later, it may be anything, or nothing.
bool is_there(const char *link, const memory_name &name) noexcept {
    char expected[80], found[80];
    const int length =
        std::snprintf(expected, sizeof expected, "/memfd:%s (deleted)", file_name(name.token).text);
    const ssize_t got = readlink(link, found, sizeof found);
    return got > 0 && std::string_view(found, static_cast<std::size_t>(got)) ==
                          std::string_view(expected, static_cast<std::size_t>(length));
}

// Looks twice: what is behind the number may change before it is opened.
int open_file_of(const memory_name &name, std::size_t size) noexcept {
    if (name.token == 0)
        return -1;
    char link[48];
    std::snprintf(link, sizeof link, "/proc/%d/fd/%d", name.process, name.descriptor);
    if (!is_there(link, name))
        return -1;
    const int opened = open(link, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (opened < 0)
        return -1;
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", opened);
    struct stat about {};
    if (is_there(link, name) && fstat(opened, &about) == 0 && static_cast<std::size_t>(about.st_size) == size)
        return opened;
    close(opened);
    return -1;
}

} // namespace

// The system judges by the first mapping whether it has that much memory: it does not count files.
mapped_memory::mapped_memory(std::size_t size, use wanted) noexcept {
    if (size == 0 || size > std::numeric_limits<std::size_t>::max() / 2)
        return;
    begin_ = map(mapped_size(size), MAP_PRIVATE | MAP_ANONYMOUS, -1);
    if (!begin_)
        return;
    size_ = size;
    const std::uint64_t token = wanted == use::by_all ? random_token() : 0;
    const int file = token != 0 ? make_file(file_name(token).text, mapped_size(size)) : -1;
    if (file < 0)
        return;
    if (std::byte *const shared = map(mapped_size(size), MAP_SHARED, file)) {
        munmap(std::exchange(begin_, shared), mapped_size(size));
        name_ = {token, getpid(), file};
    } else {
        close(file);
    }
}

// A child of a fork, and a file of what a process had in memory, need the owner's alone.
mapped_memory::mapped_memory(const memory_name &name, std::size_t size) noexcept {
    if (size == 0 || is_address_space_limited())
        return;
    const int file = open_file_of(name, mapped_size(size));
    if (file < 0)
        return;
    FULT_ASSERT(name.token != 0, "only memory that has a name is found");
    begin_ = map(mapped_size(size), MAP_SHARED, file);
    size_ = begin_ ? size : 0;
    close(file);
    if (begin_) {
        madvise(begin_, mapped_size(size), MADV_DONTFORK);
        madvise(begin_, mapped_size(size), MADV_DONTDUMP);
    }
}

mapped_memory::mapped_memory(mapped_memory &&from) noexcept
    : begin_(std::exchange(from.begin_, nullptr)),
      size_(std::exchange(from.size_, 0)),
      name_(std::exchange(from.name_, {})) {}

mapped_memory &mapped_memory::operator=(mapped_memory &&from) noexcept {
    std::swap(begin_, from.begin_);
    std::swap(size_, from.size_);
    std::swap(name_, from.name_);
    return *this;
}

mapped_memory::~mapped_memory() {
    FULT_ASSERT(!begin_ == (size_ == 0), "what is empty has no size");
    end_name();
    if (begin_)
        munmap(begin_, mapped_size(size_));
}

void mapped_memory::end_name() noexcept {
    const memory_name ended = std::exchange(name_, {});
    if (ended.token != 0)
        close(ended.descriptor);
}

void mapped_memory::end() noexcept {
    if (begin_)
        end_word().store(1, std::memory_order_relaxed);
}

} // namespace fult::global::detail

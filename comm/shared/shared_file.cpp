#include "comm/shared/shared_file.hpp"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fult/detail/assertion.hpp>

#include "comm/base/descriptor_limit.hpp"

namespace fult::comm::detail {
namespace {

[[maybe_unused]] constexpr std::size_t min_page = 4096; // at least; offsets are multiples of it

std::string path_of(const std::string &name) { return "/" + name; }

// Allocates the memory: otherwise the first access might end the process. Returns an error number.
int allocate(const file &of, std::size_t bytes) noexcept {
    int error = 0;
    do
        error = ::posix_fallocate(of.get(), 0, static_cast<off_t>(bytes));
    while (error == EINTR);
    return error;
}

} // namespace

file::~file() {
    if (descriptor_ >= 0)
        ::close(descriptor_);
}

mapping::mapping(const file &from, std::size_t offset, std::size_t size, const std::string &name,
                 access_to_file access)
    : size_(size) {
    FULT_ASSERT(size != 0 && offset % min_page == 0);
    const int protection = access == access_to_file::write ? PROT_READ | PROT_WRITE : PROT_READ;
    void *const at =
        ::mmap(nullptr, size, protection, MAP_SHARED | MAP_NORESERVE, from.get(), static_cast<off_t>(offset));
    if (at == MAP_FAILED)
        throw_shortage("shared memory " + path_of(name) + " cannot be mapped", "raise `ulimit -v`?");
    at_ = static_cast<std::byte *>(at);
}

mapping::~mapping() {
    if (at_)
        ::munmap(at_, size_);
}

file create_shared_file(const std::string &name, std::size_t bytes, const std::string &without) {
    const std::string path = path_of(name);
    ::shm_unlink(path.c_str()); // remains of a killed job
    file made(::shm_open(path.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600));
    if (made.get() < 0)
        throw_shortage("shared memory " + path + " cannot be made",
                       "is /dev/shm mounted and writable?" +
                           (without.empty() ? without : " " + without + " does without"));
    if (const int error = allocate(made, bytes)) {
        ::shm_unlink(path.c_str());
        errno = error;
        throw_shortage("/dev/shm has no room for " + std::to_string(bytes) + " bytes of " + path,
                       "make it larger (docker run --shm-size)" +
                           (without.empty() ? without : ", or set " + without));
    }
    return made;
}

file open_shared_file(const std::string &name, access_to_file access, const std::string &remedy) {
    const std::string path = path_of(name);
    file found(::shm_open(path.c_str(), access == access_to_file::write ? O_RDWR : O_RDONLY, 0));
    if (found.get() < 0)
        throw_shortage("shared memory " + path + " cannot be opened", remedy);
    return found;
}

void remove_shared_file(const std::string &name) noexcept {
    char path[NAME_MAX + 2];
    std::snprintf(path, sizeof path, "/%s", name.c_str());
    ::shm_unlink(path);
}

} // namespace fult::comm::detail

#include "symbols.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fult/detail/address.hpp>

namespace fult::detail {
namespace {

using header = ElfW(Ehdr);
using section = ElfW(Shdr);
using symbol = ElfW(Sym);

// A table in the file's image; nullptr if it is not wholly contained.
template <class T>
const T *table(const std::byte *image, std::size_t bytes, std::uint64_t offset,
               std::uint64_t count) noexcept {
    if (offset % alignof(T) != 0 || offset > bytes || count > (bytes - offset) / sizeof(T))
        return nullptr;
    return reinterpret_cast<const T *>(image + offset);
}

// The function of the file that contains the address, both as file addresses.
const symbol *look_up(const std::byte *image, std::size_t bytes, std::uintptr_t address,
                      const char *&names) noexcept {
    const auto *file = table<header>(image, bytes, 0, 1);
    if (!file || std::memcmp(file->e_ident, ELFMAG, SELFMAG) != 0)
        return nullptr;
    const auto *sections = table<section>(image, bytes, file->e_shoff, file->e_shnum);
    const symbol *found = nullptr;
    for (unsigned i = 0; sections && !found && i < file->e_shnum; ++i) {
        const section &each = sections[i];
        if (each.sh_type != SHT_SYMTAB || each.sh_link >= file->e_shnum)
            continue;
        const section &strings = sections[each.sh_link];
        const std::uint64_t count = each.sh_size / sizeof(symbol);
        const auto *symbols = table<symbol>(image, bytes, each.sh_offset, count);
        names = table<char>(image, bytes, strings.sh_offset, strings.sh_size);
        for (std::uint64_t s = 0; symbols && names && s < count; ++s)
            if ((symbols[s].st_info & 0xf) == STT_FUNC && symbols[s].st_value <= address &&
                address - symbols[s].st_value < symbols[s].st_size && symbols[s].st_name < strings.sh_size) {
                found = &symbols[s];
                if (!std::strchr(names + found->st_name,
                                 '.')) // else a local alias: the plain name may follow
                    break;
            }
    }
    return found;
}

} // namespace

symbols::~symbols() {
    for (std::size_t i = 0; i < count_; ++i)
        if (modules_[i].image)
            ::munmap(const_cast<std::byte *>(modules_[i].image), modules_[i].bytes);
}

const symbols::module *symbols::open(const void *base, const char *file) noexcept {
    for (std::size_t i = 0; i < count_; ++i)
        if (modules_[i].base == base)
            return &modules_[i];
    if (count_ == max_modules)
        return nullptr;
    module &made = modules_[count_++];
    made.base = base;
    int fd = ::open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0) // the executable, started by a relative path and no longer there
        fd = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat about {};
    if (fd >= 0 && ::fstat(fd, &about) == 0 && about.st_size > 0) {
        void *image = ::mmap(nullptr, static_cast<std::size_t>(about.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
        if (image != MAP_FAILED) {
            made.image = static_cast<const std::byte *>(image);
            made.bytes = static_cast<std::size_t>(about.st_size);
        }
    }
    if (fd >= 0)
        ::close(fd);
    return &made;
}

location symbols::find(const void *return_address) noexcept {
    location found;
    const auto *call = static_cast<const std::byte *>(return_address) - 1;
    Dl_info info{};
    if (::dladdr(call, &info) == 0 || !info.dli_fname)
        return found;
    const auto base = address_of(info.dli_fbase);
    const auto address = address_of(call);
    found.file = info.dli_fname;
    found.offset = address - base;
    const module *file = open(info.dli_fbase, info.dli_fname);
    if (file && file->image) {
        const auto *about = table<header>(file->image, file->bytes, 0, 1);
        if (about && about->e_type == ET_EXEC) // its symbol addresses are those of the process
            found.offset = address;
        const char *names = nullptr;
        if (const symbol *s = look_up(file->image, file->bytes, found.offset, names)) {
            found.function = names + s->st_name;
            found.beyond = s->st_value + (address - found.offset);
            return found;
        }
    }
    found.function = info.dli_sname;
    found.beyond = address_of(info.dli_saddr);
    return found;
}

std::size_t symbols::print(const void *return_address, char *into, std::size_t size, bool demangle) noexcept {
    const location at = find(return_address);
    int status = 1;
    char *readable =
        at.function && demangle ? abi::__cxa_demangle(at.function, nullptr, nullptr, &status) : nullptr;
    const char *slash = at.file ? std::strrchr(at.file, '/') : nullptr;
    const char *file = slash ? slash + 1 : at.file;
    int length;
    if (at.function)
        length = std::snprintf(into, size, "%s+%#zx at %s(+%#zx)", readable ? readable : at.function,
                               static_cast<std::size_t>(address_of(return_address) - at.beyond), file,
                               static_cast<std::size_t>(at.offset));
    else if (file)
        length = std::snprintf(into, size, "%s(+%#zx)", file, static_cast<std::size_t>(at.offset));
    else
        length = std::snprintf(into, size, "%p", return_address);
    std::free(readable);
    return length < 0 ? 0 : std::min(static_cast<std::size_t>(length), size - 1);
}

} // namespace fult::detail

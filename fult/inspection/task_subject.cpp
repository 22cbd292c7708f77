#include "task_subject.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cxxabi.h>
#include <fcntl.h>
#include <string_view>
#include <sys/uio.h>
#include <unistd.h>

#include <fult/detail/address.hpp>

#include "fult/base/sanitizer.hpp"
#include "fult/tasks/task.hpp"

namespace fult::detail {
namespace {

std::atomic<const task_ops *> registered_ops{nullptr};
std::atomic<subject_finder> registered_finder{nullptr};

// Reads words that the task's owner changes by plain stores: the values may be outdated.
FULT_RACY_READ const task_ops *racy_ops(const task *t) noexcept {
    return *const_cast<const task_ops *const volatile *>(&t->ops);
}
FULT_RACY_READ std::uintptr_t racy_stored(const task *t) noexcept {
    return *at_address<const volatile std::uintptr_t>(address_of(&t->storage));
}

// gcc names an outlined function after that of the source: "main._omp_fn.0" -> " of main", "_Z1fi._omp_fn.0"
// -> " of f(int)". clang does not: ".omp_task_entry..3" -> " .omp_task_entry..3".
std::string source_function(std::string_view symbol) {
    if (symbol.front() == '.')
        return ' ' + std::string(symbol);
    const std::string plain(symbol.substr(0, symbol.find('.')));
    int status = 1;
    char *readable = abi::__cxa_demangle(plain.c_str(), nullptr, nullptr, &status);
    std::string text = " of " + (readable ? readable : plain);
    std::free(readable);
    return text;
}

// Opened for each, as a fork would inherit the parent's.
bool read_by_file(std::uintptr_t from, void *to, std::size_t bytes) noexcept {
    const int file = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    const ssize_t got = ::pread(file, to, bytes, static_cast<off_t>(from));
    ::close(file);
    return got == static_cast<ssize_t>(bytes);
}

} // namespace

void register_subjects(const task_ops *ops, subject_finder find) noexcept {
    registered_finder.store(find, std::memory_order_relaxed);
    registered_ops.store(ops, std::memory_order_release);
}

bool read_if_mapped(std::uintptr_t from, void *to, std::size_t bytes) noexcept {
    const iovec here{to, bytes};
    const iovec there{at_address<void>(from), bytes};
    const ssize_t got = ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0);
    if (got >= 0 || errno == EFAULT)
        return got == static_cast<ssize_t>(bytes);
    return read_by_file(from, to, bytes); // a container or an emulator without that call
}

task_subject subject_of(const task *t) noexcept {
    const task_ops *const ops = registered_ops.load(std::memory_order_acquire);
    if (!ops || racy_ops(t) != ops)
        return {};
    return registered_finder.load(std::memory_order_relaxed)(racy_stored(t));
}

const std::string &subject_names::name_of(const task *t) { return text_of(subject_of(t)); }

const std::string &subject_names::text_of(const task_subject &subject) {
    if (!subject.kind)
        return none_;
    std::string &text = known_[{subject.kind, subject.function}];
    if (text.empty()) {
        text = subject.kind;
        // find() looks for the call before a return address.
        const location at = subject.function
                                ? symbols_.find(static_cast<const std::byte *>(subject.function) + 1)
                                : location{};
        if (at.function && *at.function)
            text += source_function(at.function);
    }
    return text;
}

} // namespace fult::detail

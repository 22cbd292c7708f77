// __kmpc_*: threadprivate variables of programs that are compiled without native thread-local storage.
#include <cstring>
#include <memory>
#include <mutex>
#include <sys/syscall.h>
#include <unistd.h>
#include <unordered_map>
#include <vector>

#include <fult/detail/assertion.hpp>

#include "kmp.hpp"
#include "omp/core/fork.hpp"

using namespace fult::omp;
using kmp::location;

namespace {

struct threadprivate {
    void *(*construct)(void *) = nullptr;
    void *(*construct_from)(void *, void *) = nullptr;
    void (*destroy)(void *) = nullptr;
    std::vector<char> image; // at the first use, for variables without a constructor
    bool has_image = false;
};

std::mutex &mutex() noexcept { return mutex_of(shared_state::threadprivate); }
threadprivate &description_of(void *data) { // under the mutex; it stays
    static auto *const all = new std::unordered_map<void *, threadprivate>;
    return (*all)[data];
}

// A thread's copies, by the address of the original, which the initial thread uses itself.
struct thread_copies {
    struct copy {
        std::unique_ptr<std::max_align_t[]> memory;
        void (*destroy)(void *);
    };
    std::unordered_map<void *, copy> of;
    ~thread_copies() {
        for (auto &[original, c] : of)
            if (c.destroy)
                c.destroy(c.memory.get());
    }
};
thread_local thread_copies mine;

bool is_initial_thread() noexcept {
    static thread_local const bool is = ::getpid() == static_cast<pid_t>(::syscall(SYS_gettid));
    return is;
}

void keep_image(threadprivate &v, void *data, std::size_t size) {
    if (v.has_image || v.construct || v.construct_from)
        return;
    v.image.assign(static_cast<char *>(data), static_cast<char *>(data) + size);
    v.has_image = true;
}

void *make_copy(void *data, std::size_t size) {
    constexpr std::size_t unit = sizeof(std::max_align_t);
    auto memory = std::make_unique<std::max_align_t[]>((size + unit - 1) / unit + 1);
    void *const at = memory.get();
    std::unique_lock lock(mutex());
    threadprivate &v = description_of(data);
    keep_image(v, data, size);
    lock.unlock(); // the program's functions may fork
    if (v.construct)
        v.construct(at);
    else if (v.construct_from)
        v.construct_from(at, data);
    else {
        FULT_ASSERT(v.has_image && v.image.size() >= size, "a variable has one size");
        std::memcpy(at, v.image.data(), size);
    }
    mine.of[data] = {std::move(memory), v.destroy};
    return at;
}

void *copy_of(void *data, std::size_t size) {
    if (is_initial_thread()) {
        const std::lock_guard lock(mutex());
        keep_image(description_of(data), data, size);
        return data;
    }
    const auto at = mine.of.find(data);
    return at != mine.of.end() ? at->second.memory.get() : make_copy(data, size);
}

} // namespace

extern "C" {

void __kmpc_threadprivate_register(location *, void *data, void *(*construct)(void *),
                                   void *(*construct_from)(void *, void *), void (*destroy)(void *)) {
    const std::lock_guard lock(mutex());
    threadprivate &v = description_of(data);
    v.construct = construct;
    v.construct_from = construct_from;
    v.destroy = destroy;
}

// The compiler's cache is by thread, and we do not know its length: it stays unused.
void *__kmpc_threadprivate_cached(location *, int, void *data, std::size_t size, void ***) {
    return copy_of(data, size);
}
void *__kmpc_threadprivate(location *, int, void *data, std::size_t size) { return copy_of(data, size); }

} // extern "C"

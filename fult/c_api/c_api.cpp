// The C interface is a thin layer. A C task is a closure of its function and argument with a void * result.
#include "c_api.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>

#include <fult/fult.h>
#include <fult/fult.hpp>
#include <fult/inspect.hpp>

#include "c_handles.hpp"
#include "fult/engine/engine.hpp"
#include "fult/inspection/dump.hpp"
#include "fult/scheduler/worker.hpp"

using namespace fult::detail;

namespace {

struct c_call {
    fult_function_t function;
    void *argument;
    void *operator()() const { return function(argument); }
};

void store_handle(fult_task_t *to, task *t) noexcept {
    if (to)
        *to = handle_of(t);
    else
        detach_task(t);
}

} // namespace

namespace {
std::atomic<bool> started_here{false}; // the running runtime
}

int fult_init(const fult_config *config) {
    if (fult::worker_count() != 0)
        return set_status(FULT_ERR_RUNNING, "fult_init: a runtime is running already; end it first (one that "
                                            "OpenMP has started: by omp_pause_resource_all)");
    return status_of(
        [&] {
            fult::options opts = fult::read_options();
            if (config && config->size >= sizeof(fult_config)) {
                opts.workers = config->workers ? config->workers : opts.workers;
                if (config->bind >= 0)
                    opts.bind = config->bind != 0 ? fult::bind_mode::on : fult::bind_mode::off;
                opts.stack_size = config->stack_size ? config->stack_size : opts.stack_size;
            } else if (config) {
                throw std::invalid_argument(
                    "fult_init: config->size is not sizeof(fult_config); start from FULT_CONFIG_INIT");
            }
            start_engine(opts);
            started_here.store(true, std::memory_order_relaxed);
        },
        FULT_ERR_RUNNING);
}

int fult_finalize(void) {
    if (fult::worker_count() == 0)
        return reject_without_runtime();
    if (!started_here.exchange(false, std::memory_order_relaxed))
        return set_status(FULT_ERR_NO_RUNTIME,
                          "fult_finalize: the running runtime was not started by fult_init; what has started "
                          "it ends it (OpenMP: omp_pause_resource_all)");
    stop_engine();
    return FULT_SUCCESS;
}

int fult_spawn(fult_task_t *out, fult_function_t function, void *argument) {
    if (!function)
        return reject_argument("function is NULL");
    return status_of([&] { store_handle(out, spawn_closure<c_call, void *>({function, argument})); });
}

int fult_spawn_with(fult_task_t *out, fult_function_t function, void *argument, const fult_spawn_attr *attr) {
    if (!attr)
        return fult_spawn(out, function, argument);
    if (!function)
        return reject_argument("function is NULL");
    if (attr->size < sizeof(fult_spawn_attr))
        return reject_argument(wrong_attr_size);
    return status_of([&] {
        auto handle = spawn_closure_with<c_call, void *>(options_of(*attr), {function, argument});
        store_handle(out, handle_access::release(handle, "fult_spawn_with"));
    });
}

int fult_join(fult_task_t joined, void **result) {
    if (!joined)
        return reject_argument("task is NULL");
    if (fult::worker_count() == 0)
        return reject_without_runtime();
    void *value = join_closure<c_call, void *>(take_task_of(joined));
    if (result)
        *result = value;
    return FULT_SUCCESS;
}

int fult_join_all(fult_task_t *tasks, size_t count, void **results) {
    if (!tasks && count != 0)
        return reject_argument("tasks is NULL");
    for (size_t i = 0; i < count; ++i)
        if (!tasks[i])
            return reject_argument("one of the tasks is NULL");
    if (count != 0 && fult::worker_count() == 0)
        return reject_without_runtime();
    constexpr size_t most = 256; // tasks waited for with one wake-up
    for (size_t first = 0; first < count; first += most) {
        task *these[most];
        const size_t end = std::min(first + most, count);
        std::transform(tasks + first, tasks + end, these,
                       [](fult_task_t each) { return task_of(each, "fult_join_all"); });
        await_all(these, end - first);
        for (size_t i = first; i < end; ++i)
            fult_join(tasks[i], results ? &results[i] : nullptr);
    }
    return FULT_SUCCESS;
}

int fult_detach(fult_task_t t) {
    if (!t)
        return reject_argument("task is NULL");
    if (fult::worker_count() == 0)
        return reject_without_runtime();
    detach_task(take_task_of(t));
    return FULT_SUCCESS;
}

int fult_yield(void) {
    if (!fult::in_task())
        return reject_outside_task();
    fult::this_task::yield();
    return FULT_SUCCESS;
}

int fult_wait(void) {
    if (!fult::in_task())
        return reject_outside_task();
    fult::this_task::wait();
    return FULT_SUCCESS;
}

fult_task_id_t fult_task_id(fult_task_t t) { return t ? id_of(task_of(t)).value() : 0; }
fult_task_id_t fult_self(void) { return fult::in_task() ? fult::this_task::id().value() : 0; }
void fult_signal(fult_task_id_t id) { fult::signal(fult::task_id::from_value(id)); }

unsigned fult_worker_count(void) { return static_cast<unsigned>(fult::worker_count()); }
int fult_stack(void **low, size_t *size) {
    if (!fult::in_task())
        return reject_outside_task();
    if (!low || !size)
        return reject_argument("both arguments receive a value; neither may be NULL");
    const fult::stack_bounds bounds = fult::this_task::stack();
    *low = bounds.low;
    *size = bounds.size;
    return FULT_SUCCESS;
}
int fult_worker(void) { return fult::in_task() ? fult::this_task::worker() : -1; }

int fult_dump_tasks(int descriptor) {
    if (fult::worker_count() == 0)
        return reject_without_runtime();
    write_report(descriptor);
    return FULT_SUCCESS;
}

int fult_trim(void) {
    if (fult::worker_count() == 0)
        return reject_without_runtime();
    fult::trim();
    return FULT_SUCCESS;
}

const char *fult_strerror(int status) {
    switch (status) {
    case FULT_SUCCESS:
        return "success";
    case FULT_ERR_NO_RUNTIME:
        return "no runtime is running: call fult_init first";
    case FULT_ERR_RUNNING:
        return "a runtime is running already: call fult_finalize before starting another";
    case FULT_ERR_NO_MEMORY:
        return "memory, threads, stacks or task slots ran out: join some tasks, lower FULT_STACK_SIZE or "
               "FULT_WORKERS, or raise FULT_MAX_TASKS or "
               "the limits of the process";
    case FULT_ERR_INVALID:
        return "an argument or a FULT_* variable is out of its range: fult_last_error names it; see fult.h "
               "and "
               "`fult-info`";
    case FULT_ERR_NOT_A_TASK:
        return "only a task may call this: start one with fult_spawn";
    case FULT_ERR_TIMEOUT:
        return "the time is over";
    case FULT_ERR_BUSY:
        return "the call would have to wait: try again, or use the call that waits";
    case FULT_ERR_CLOSED:
        return "the channel is closed: nothing more can be sent, and nothing is left to receive";
    default:
        // fult/comm.h begins there; this library knows none of them
        return status >= 64 && status < 128 ? "a status of fult-comm: fult_comm_strerror describes it, and "
                                              "fult_comm_error_text what has set_status"
                                            : "unknown status: fult.h lists those that are";
    }
}

const char *fult_version(void) { return FULT_VERSION_STRING; }

// The types of the public headers, with the arguments that templates have most, for tools/abi: it compiles
// this file and records their layouts, and those of the types that they contain. A new public type is added
// here.
#include <fult/comm.h>
#include <fult/comm.hpp>
#include <fult/fult.h>
#include <fult/fult.hpp>
#include <fult/global.hpp>
#include <fult/inspect.hpp>
#include <fult/loops.hpp>
#include <fult/sync.h>
#include <fult/sync.hpp>

// Members, since a pointer does not make a template complete. They are never constructed.
struct types_of_tasks {
    fult::options _0;
    fult::runtime _1;
    fult::task_id _2;
    fult::spawn_options _3;
    fult::handle<int> _4;
    fult::handle<void> _5;
    fult::task_group _6;
    fult::task_local_ptr<int> _7;
    fult::task_local<int> _8;
    fult::task_description _9;
    fult::loop_options _10;
    fult::detail::poller _11;
    fult::detail::valued_state<int> _12;
};
struct types_of_sync {
    fult::qlock _0;
    fult::shared_qlock _1;
    fult::spinlock _2;
    fult::condition_variable _3;
    fult::barrier<> _4;
    fult::latch _5;
    fult::counting_semaphore<> _6;
    fult::event _7;
    fult::once_flag _8;
    fult::future<int> _9;
    fult::promise<int> _10;
    fult::channel<int> _11;
    fult::full_empty<int> _12;
};
struct types_of_comm {
    fult::comm::options _0;
    fult::comm::context _1;
    fult::comm::endpoint _2;
    fult::comm::endpoint_options _3;
    fult::comm::message _4;
    fult::comm::request _5;
    fult::comm::status _6;
    fult::comm::errc _7;
    fult::comm::error _8;
    fult::comm::completion_event _9;
    fult::comm::synchronizer _10;
    fult::comm::completion_queue _11;
    fult::comm::region _12;
    fult::comm::remote_region _13;
    fult::comm::const_buffer _14;
    fult::comm::mutable_buffer _15;
    fult::comm::detail::layout_of_blocks _16;
    fult::comm::matched_message _17;
};
struct types_of_global {
    fult::global::memory _0;
    fult::global::memory_options _1;
    fult::global::global_ptr<int> _2;
    fult::global::global_vector<int> _3;
    fult::global::vector_layout<int> _4;
    fult::global::global_variable<int> _5;
    fult::global::heap_exhausted _6;
    fult::global::strided _7;
    fult::global::remote_task<int> _8;
    fult::global::remote_error _9;
    fult::global::cache _10;
    fult::global::cache_options _11;
    fult::global::cache_counters _12;
    fult::global::cached<int> _13;
    fult::global::not_cached _14;
    fult::global::counter _15;
};
struct types_of_c {
    fult_config _0;
    fult_spawn_attr _1;
    fult_comm_options _2;
    fult_comm_envelope _3;
    fult_comm_endpoint_attr _4;
    fult_comm_const_buffer _5;
    fult_comm_mutable_buffer _6;
    fult_comm_remote_region _7;
};

extern "C" {
void fult_abi_tasks(types_of_tasks *) {}
void fult_abi_sync(types_of_sync *) {}
void fult_abi_comm(types_of_comm *) {}
void fult_abi_global(types_of_global *) {}
void fult_abi_c(types_of_c *) {}
}

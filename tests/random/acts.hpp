// What a task or a thread may do. Each act ends whatever the others do, also with one worker: before an actor
// waits, it has enabled another one to end the wait.
#pragma once

#include "program.hpp"

namespace random_programs::perform {

// tasks.cpp
void yield(actor &a);
void child(actor &a);
void children(actor &a);
void child_of_another(actor &a);
void detached(actor &a);
void results(actor &a);
void first_of_several(actor &a);
void handles(actor &a);
void depth(actor &a);
void burst(actor &a);
void refused(actor &a);

// signals.cpp
void stray_signals(actor &a);
void grant(actor &a);
void ball(actor &a);
void signal_handler(actor &a);
void thread(actor &a);

// groups.cpp
void group(actor &a);
void failing_group(actor &a);
void stopped_group(actor &a);
void nested_groups(actor &a);
void orphan_group(actor &a);
void shared_group(actor &a);

// locks.cpp
void lock(actor &a);
void lock_in_order(actor &a);
void lock_for_readers(actor &a);
void spin(actor &a);
void condition(actor &a);
void notifications(actor &a);

// meetings.cpp
void semaphore(actor &a);
void latch(actor &a);
void barrier(actor &a);
void event(actor &a);
void once(actor &a);

// values.cpp
void full_empty(actor &a);
void promise(actor &a);
void channel(actor &a);
void channel_closed_early(actor &a);
void closed_channel(actor &a);

// loops.cpp
void loop(actor &a);
void grid(actor &a);
void reduce(actor &a);
void invoke(actor &a);
void sort(actor &a);
void failing_loop(actor &a);

// locals.cpp
void locals(actor &a);
void inherited_locals(actor &a);

// late_locals.cpp
void late_locals(actor &a);

// forks.cpp
void fork(actor &a);

// system.cpp
void sleep(actor &a);
void blocking(actor &a);
void pipe(actor &a);
void closed_descriptor(actor &a);
void trim(actor &a);
void dump(actor &a);
void visit(actor &a);
void dump_signal(actor &a);

// fairness.cpp
void fair_yield(actor &a);
void fair_to_the_computed(actor &a);
void fair_join(actor &a);
void fair_short_waits(actor &a);
void fair_to_timers(actor &a);
void fair_to_descriptors(actor &a);
void fair_to_threads(actor &a);

// in_c.cpp
void c_tasks(actor &a);
void c_group(actor &a);
void c_objects(actor &a);

// in_c_locks.cpp
void c_lock(actor &a);
void c_lock_for_readers(actor &a);
void c_condition(actor &a);
void c_semaphore(actor &a);
void c_barrier(actor &a);
void c_event(actor &a);

// in_c_values.cpp
void c_full_empty(actor &a);
void c_channel(actor &a);

// in_c_outside.cpp
void c_sleep(actor &a);
void c_blocking(actor &a);
void c_pipe(actor &a);

// in_c_keys.cpp
void c_keys(actor &a);
void c_detached(actor &a);
void c_signal(actor &a);
void c_trim_and_dump(actor &a);

// in_c_refused.cpp
void c_refused(actor &a);

} // namespace random_programs::perform

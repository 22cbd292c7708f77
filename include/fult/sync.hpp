/// @file
/// The entry header of synchronization between tasks and threads.
#pragma once

#include <fult/detail/language.hpp>

#include <fult/sync/barrier.hpp>
#include <fult/sync/channel.hpp>
#include <fult/sync/condition_variable.hpp>
#include <fult/sync/event.hpp>
#include <fult/sync/full_empty.hpp>
#include <fult/sync/future.hpp>
#include <fult/sync/latch.hpp>
#include <fult/sync/once.hpp>
#include <fult/sync/qlock.hpp>
#include <fult/sync/semaphore.hpp>
#include <fult/sync/shared_qlock.hpp>
#include <fult/sync/sleep.hpp>
#include <fult/sync/spinlock.hpp>

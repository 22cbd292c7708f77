// A mutex of the system that notices when its own thread asks for it again.
#pragma once

#include <pthread.h>

#include "check.h"

static pthread_mutex_t mutex;

static void init_mutex(void) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&mutex, &attributes);
}

static void lock_mutex(void) { CHECK(pthread_mutex_lock(&mutex) == 0); } // EDEADLK: this thread has it

static void unlock_mutex(void) { CHECK(pthread_mutex_unlock(&mutex) == 0); }

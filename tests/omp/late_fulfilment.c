// A detached task that is completed after the thread that generated its parent has ended: what counts it must
// still be there. The second thread takes the first one's memory and sees whether anyone writes to it.
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { blocks = 2000, step = 8, mark = 0x55 };

static omp_event_handle_t event;

static void *generate(void *unused) {
#pragma omp task
    {
        omp_event_handle_t mine;
#pragma omp task detach(mine)
        event = mine;
    }
#pragma omp taskwait // for the outer task only
    return unused;
}

static void *fulfill(void *written) {
    static char *block[blocks];
    for (int i = 0; i < blocks; i++) {
        if (!(block[i] = malloc((size_t)(i + 1) * step)))
            abort();
        memset(block[i], mark, (size_t)(i + 1) * step);
    }
    omp_fulfill_event(event);
    for (int i = 0; i < blocks; i++) {
        for (int byte = 0; byte < (i + 1) * step; byte++)
            *(int *)written += block[i][byte] != mark;
        free(block[i]);
    }
    return NULL;
}

static void run(void *(*function)(void *), void *argument) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, function, argument) != 0 || pthread_join(thread, NULL) != 0)
        abort();
}

int main(void) {
    int written = 0;
    run(generate, NULL);
    run(fulfill, &written);
    if (written != 0)
        printf("%d bytes of the program's were overwritten\n", written);
    return written == 0 ? 0 : 1;
}

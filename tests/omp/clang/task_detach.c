#include <omp.h>

#include "check.h"

int main(void) {
    int after = 0, body = 0, fulfilled = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
    {
        omp_event_handle_t event;
#pragma omp task detach(event) depend(out : body) shared(body)
        body = 1;
#pragma omp task depend(in : body) shared(after, fulfilled)
        after = fulfilled;
#pragma omp task shared(fulfilled)
        {
            fulfilled = 1;
            omp_fulfill_event(event);
        }
#pragma omp taskwait
        EXPECT(after == 1 && body == 1);
    }
    return 0;
}

#include <omp.h>

#include "check.h"

static int pair[2];
static void add(int n) {
#pragma omp task in_reduction(+ : pair)
    {
        pair[0] += n;
        pair[1] += 1;
    }
    if (n > 1)
        add(n - 1);
}

int main(void) {
    int sum = 0, product = 1, loop = 0, tasks = 0;
#pragma omp parallel num_threads(4)
    {
#pragma omp single
        {
#pragma omp taskgroup task_reduction(+ : sum) task_reduction(* : product)
            {for (int i = 1; i <= 100; ++i){
#pragma omp task in_reduction(+ : sum)
                sum += i;
}
for (int i = 1; i <= 5; ++i) {
#pragma omp task in_reduction(* : product)
    {
#pragma omp task in_reduction(* : product)
        product *= i;
#pragma omp taskwait
    }
}
}
EXPECT(sum == 5050 && product == 120);
#pragma omp taskgroup task_reduction(+ : pair)
add(50);
EXPECT(pair[0] == 1275 && pair[1] == 50);
#pragma omp taskloop reduction(+ : loop)
for (int i = 0; i < 300; ++i)
    loop += i;
EXPECT(loop == 44850);
}
}
#pragma omp parallel num_threads(4) reduction(task, + : tasks)
{
    tasks += 1;
    for (int i = 0; i < 10; ++i) {
#pragma omp task in_reduction(+ : tasks)
        tasks += 1;
    }
}
EXPECT(tasks == 44);
int in_loop = 0;
#pragma omp parallel num_threads(4)
{
#pragma omp for reduction(task, + : in_loop) schedule(dynamic, 1)
    for (int i = 0; i < 20; ++i) {
#pragma omp task in_reduction(+ : in_loop)
        in_loop += i;
    }
    EXPECT(in_loop == 190);
}
return 0;
}

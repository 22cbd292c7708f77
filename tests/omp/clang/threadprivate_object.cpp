#include <omp.h>
#include <string>

#include "check.h"

extern std::string text;
#pragma omp threadprivate(text)
std::string text = "initial";

int main() {
#pragma omp parallel num_threads(4)
    {
        EXPECT(text == "initial");
        text += std::to_string(omp_get_thread_num());
    }
#pragma omp parallel num_threads(4)
    EXPECT(text == "initial" + std::to_string(omp_get_thread_num()));
    return 0;
}

// Private variables with constructors and destructors.
#include <atomic>
#include <string>
#include <vector>

#include "check.h"

static std::atomic<int> alive{0};
struct object {
    std::string text{"a text that does not fit into the object itself"};
    object() { ++alive; }
    object(const object &o) : text(o.text) { ++alive; }
    object &operator=(const object &) = default;
    ~object() { --alive; }
};

int main() {
    {
        object o;
        std::atomic<int> right{0};
        object last;
#pragma omp parallel num_threads(4)
#pragma omp single
        {
            for (int i = 0; i < 100; ++i) {
#pragma omp task firstprivate(o) shared(right)
                {
                    o.text += "!";
                    right += o.text.size() == 48;
                }
            }
#pragma omp taskwait
            EXPECT(alive == 2);
#pragma omp task firstprivate(o) if (0)
            o.text.clear();
#pragma omp task firstprivate(o) untied
            {
#pragma omp taskyield
                right += o.text.size() == 47;
            }
#pragma omp taskloop firstprivate(o) lastprivate(last) shared(right)
            for (int i = 0; i < 50; ++i) {
                right += o.text.size() == 47;
                last.text = std::to_string(i);
            }
        }
        EXPECT(right == 151);
        EXPECT(last.text == "49");
        std::vector<object> list(3);
#pragma omp parallel for firstprivate(o) lastprivate(last) num_threads(4)
        for (int i = 0; i < 10; ++i)
            last = o;
    }
    EXPECT(alive == 0);
    return 0;
}

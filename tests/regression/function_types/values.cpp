// Task-local values whose destructors and copies are called by the library.
#include <fult/fult.hpp>

int main() {
    const fult::runtime rt;
    const fult::task_local<int> value([] { return 1; }, &fult::copy_value<int>);
    const fult::task_local_ptr<int> pointer([](int *each) { delete each; });
    return fult::spawn([&] {
               *value = 2;
               pointer.set(new int(3));
               return fult::spawn({.inherit_locals = true}, [&] { return *value; }).join();
           }).join() == 2
               ? 0
               : 1;
}

// A program outside the tree: spawns, joins, and checks that headers and library are of one version.
#include <cstdio>
#include <string>

#include <fult/fult.hpp>

int main() {
    fult::runtime runtime;
    fult::handle<int> number = fult::spawn([](int a, int b) { return a * b; }, 6, 7);
    fult::handle<std::string> text = fult::spawn([] { return std::string("joined"); });
    const int product = number.join();
    const std::string word = text.join();
    std::printf("fult %s: %d %s\n", FULT_VERSION_STRING, product, word.c_str());
    return product == 42 && word == "joined" ? 0 : 1;
}

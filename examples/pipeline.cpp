// A pipeline: three stages connected by channels. Closing a channel ends the stage that reads it.
#include <cstdio>
#include <string>

#include <fult/fult.hpp>
#include <fult/sync.hpp>

int main() {
    constexpr int count = 10'000;
    fult::runtime runtime;
    fult::channel<int> numbers(16);
    fult::channel<std::string> texts(16);

    auto make = fult::spawn([&] {
        for (int i = 0; i < count; ++i)
            numbers.send(i); // suspends while 16 are queued
        numbers.close();
    });
    auto write = fult::spawn([&] {
        while (const auto number = numbers.receive())
            texts.send(std::to_string(*number));
        texts.close();
    });
    auto measure = fult::spawn([&] {
        std::size_t letters = 0;
        while (const auto text = texts.receive())
            letters += text->size();
        return letters;
    });

    make.join();
    write.join();
    const std::size_t letters = measure.join();
    const std::size_t expected = 10 + 90 * 2 + 900 * 3 + 9'000 * 4;
    std::printf("%zu letters\n", letters);
    return letters == expected ? 0 : 1;
}

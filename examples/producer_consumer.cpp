// Producers and consumers share a buffer of eight slots, guarded by a lock and two counting semaphores.
#include <array>
#include <cstdio>
#include <mutex>
#include <vector>

#include <fult/fult.hpp>
#include <fult/sync.hpp>

class buffer {
  public:
    void put(int item) {
        free_.acquire(); // suspends the task while the buffer is full
        {
            const std::lock_guard guard(lock_);
            items_[(first_ + size_++) % items_.size()] = item;
        }
        used_.release();
    }

    int take() {
        used_.acquire();
        int item;
        {
            const std::lock_guard guard(lock_);
            item = items_[first_++ % items_.size()];
            --size_;
        }
        free_.release();
        return item;
    }

  private:
    fult::qlock lock_;
    fult::counting_semaphore<> free_{8}, used_{0};
    std::array<int, 8> items_{};
    std::size_t first_ = 0, size_ = 0;
};

int main() {
    constexpr int producers = 4, consumers = 3, items_each = 3'000;
    fult::runtime runtime;
    buffer shared;
    std::vector<fult::handle<long>> sums;
    for (int c = 0; c < consumers; ++c)
        sums.push_back(fult::spawn([&shared] {
            long sum = 0;
            while (const int item = shared.take()) // 0: the end
                sum += item;
            return sum;
        }));
    std::vector<fult::handle<void>> makers;
    for (int p = 0; p < producers; ++p)
        makers.push_back(fult::spawn([&shared] {
            for (int item = 1; item <= items_each; ++item)
                shared.put(item);
        }));
    fult::join_all(makers);
    for (int c = 0; c < consumers; ++c)
        shared.put(0);
    long total = 0;
    for (auto &sum : sums)
        total += sum.join();
    const long expected = long{producers} * items_each * (items_each + 1) / 2;
    std::printf("consumed %ld of %ld\n", total, expected);
    return total == expected ? 0 : 1;
}

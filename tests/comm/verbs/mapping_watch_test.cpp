// Every way in which memory can be replaced is reported before the call returns.
#include <gtest/gtest.h>
#include <mutex>
#include <sys/mman.h>
#include <utility>
#include <vector>

#include <fult/detail/address.hpp>

#include "comm/verbs/mapping_watch.hpp"

namespace {

using fult::detail::address_of;

constexpr std::size_t mapped_size = std::size_t{16} << 12;

class mapping_reports final : public fult::comm::detail::mapping_listener {
  public:
    void lock() noexcept override { mutex_.lock(); }
    void unlock() noexcept override { mutex_.unlock(); }
    void unmapped(std::uintptr_t begin, std::uintptr_t end) noexcept override {
        if (count_ < std::size(ranges_))
            ranges_[count_++] = {begin, end};
    }
    // True if a report since the last call covers that byte.
    bool has_reported(const void *at) {
        const std::lock_guard hold(mutex_);
        bool covered = false;
        for (std::size_t i = 0; i < count_; ++i)
            covered |= address_of(at) >= ranges_[i].first && address_of(at) < ranges_[i].second;
        count_ = 0;
        return covered;
    }

  private:
    std::mutex mutex_;
    std::pair<std::uintptr_t, std::uintptr_t> ranges_[64]; // the watch's thread must not allocate
    std::size_t count_ = 0;
};

class mappings : public testing::Test {
  protected:
    void SetUp() override {
        bytes_ = map(nullptr, 0);
        if (!watch_.watch(bytes_, mapped_size))
            GTEST_SKIP() << "the system permits no userfaultfd";
        bytes_[mapped_size / 2] = 1;
        ASSERT_FALSE(heard_.has_reported(middle()));
    }
    static char *map(void *at, int flags) {
        void *const found =
            mmap(at, mapped_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
        return found == MAP_FAILED ? nullptr : static_cast<char *>(found);
    }
    const void *middle() const { return bytes_ + mapped_size / 2; }

    mapping_reports heard_;
    fult::comm::detail::mapping_watch watch_{heard_};
    char *bytes_ = nullptr;
};

TEST_F(mappings, unmapped_memory_is_reported_before_the_address_is_used_again) {
    ASSERT_EQ(munmap(bytes_, mapped_size), 0);
    EXPECT_TRUE(heard_.has_reported(middle()));
    EXPECT_TRUE(heard_.has_reported(middle()) == false);
}

TEST_F(mappings, a_mapping_in_its_place_is_reported) {
    ASSERT_EQ(map(bytes_, MAP_FIXED), bytes_);
    EXPECT_TRUE(heard_.has_reported(middle()));
    ASSERT_TRUE(watch_.watch(bytes_, mapped_size)); // the new one is another one
    ASSERT_EQ(munmap(bytes_, mapped_size), 0);
    EXPECT_TRUE(heard_.has_reported(middle()));
}

TEST_F(mappings, discarded_memory_is_reported) {
    ASSERT_EQ(madvise(bytes_, mapped_size, MADV_DONTNEED), 0);
    EXPECT_TRUE(heard_.has_reported(middle()));
}

TEST_F(mappings, moved_memory_is_reported) {
    char *const elsewhere = map(nullptr, 0);
    ASSERT_EQ(mremap(bytes_, mapped_size, mapped_size, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere), elsewhere);
    EXPECT_TRUE(heard_.has_reported(middle()));
    munmap(elsewhere, mapped_size);
}

TEST_F(mappings, other_memory_is_not_reported) {
    char *const other = map(nullptr, 0);
    ASSERT_EQ(munmap(other, mapped_size), 0);
    EXPECT_FALSE(heard_.has_reported(middle()));
    bytes_[0] = 2;
    ASSERT_EQ(mprotect(bytes_, mapped_size, PROT_READ), 0);
    EXPECT_FALSE(heard_.has_reported(middle()));
}

} // namespace

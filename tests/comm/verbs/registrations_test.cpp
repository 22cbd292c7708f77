// Registrations are kept, and never those of pages that are not there any more: beside an oracle, which notes
// at each registration what pages there are.
#include <array>
#include <atomic>
#include <cerrno>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <random>
#include <sys/mman.h>
#include <thread>
#include <vector>

#include <fult/detail/address.hpp>

#include "comm/verbs/registrations.hpp"
#include "tests/support/long.hpp"

namespace {

using namespace fult::comm::detail;
using fult::detail::address_of;

constexpr std::size_t page_bytes = 4096;

// Pages of which one thread knows how often each was replaced.
class replaced_pages {
  public:
    static constexpr std::size_t count = 64;

    replaced_pages() : base_(map(nullptr, count, 0)) {}
    ~replaced_pages() { munmap(base_, count * page_bytes); }
    replaced_pages(const replaced_pages &) = delete;
    replaced_pages &operator=(const replaced_pages &) = delete;

    char *at(std::size_t page) const { return base_ + page * page_bytes; }
    std::vector<unsigned> of(const void *from, std::size_t size) const {
        const std::size_t begin = address_of(from) - address_of(base_);
        return {times_.begin() + static_cast<std::ptrdiff_t>(begin / page_bytes),
                times_.begin() + static_cast<std::ptrdiff_t>((begin + size - 1) / page_bytes + 1)};
    }
    // By other pages, in one of the ways that leave the address mapped.
    void replace(std::size_t first, std::size_t number, unsigned how) {
        for (std::size_t i = first; i < first + number; ++i)
            ++times_[i];
        if (how % 3 == 0) {
            ASSERT_EQ(map(at(first), number, MAP_FIXED), at(first));
        } else if (how % 3 == 1) {
            ASSERT_EQ(madvise(at(first), number * page_bytes, MADV_DONTNEED), 0);
        } else {
            void *const from = map(nullptr, number, 0);
            ASSERT_EQ(mremap(from, number * page_bytes, number * page_bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                             at(first)),
                      at(first));
        }
        *at(first) = 1;
    }

  private:
    static char *map(void *where, std::size_t number, int flags) {
        void *const found = mmap(where, number * page_bytes, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
        return found == MAP_FAILED ? nullptr : static_cast<char *>(found);
    }

    char *const base_;
    std::array<unsigned, count> times_{};
};

// What a thread registers is of these pages.
thread_local const replaced_pages *registered_pages = nullptr;

class page_oracle final : public registrar {
  public:
    struct region : ibv_mr {
        std::vector<unsigned> replaced; // each page, how often until then
        int rights = 0;
        std::atomic<bool> exists{true};
    };

    explicit page_oracle(std::size_t most = ~std::size_t{0}) : most_(most) {}

    ibv_mr *add(void *base, std::size_t size, int rights) noexcept override {
        const std::lock_guard hold(mutex_);
        if (existing_ == most_) {
            errno = ENOMEM;
            return nullptr;
        }
        ++existing_;
        auto made = std::make_unique<region>();
        made->addr = base;
        made->length = size;
        made->rights = rights;
        if (registered_pages != nullptr)
            made->replaced = registered_pages->of(base, size);
        all_.push_back(std::move(made));
        return all_.back().get();
    }
    void remove(ibv_mr *which) noexcept override {
        const std::lock_guard hold(mutex_);
        EXPECT_TRUE(static_cast<region *>(which)->exists.exchange(false)) << "removed twice";
        --existing_;
    }
    std::size_t existing() {
        const std::lock_guard hold(mutex_);
        return existing_;
    }

  private:
    const std::size_t most_;
    std::mutex mutex_;
    std::size_t existing_ = 0;
    std::vector<std::unique_ptr<region>> all_; // those that were removed, too: nothing takes their place
};

const page_oracle::region &region_of(const registration &r) {
    return static_cast<const page_oracle::region &>(*r.region);
}

struct use {
    char *base;
    std::size_t size;
    access_rights allowed;
    registration *with;

    bool overlaps(const char *begin, const char *end) const { return base < end && base + size > begin; }
    void check(const replaced_pages &pages) const {
        const page_oracle::region &region = region_of(*with);
        EXPECT_TRUE(region.exists);
        EXPECT_EQ(region.addr, base);
        EXPECT_EQ(region.length, size);
        EXPECT_EQ((region.rights & IBV_ACCESS_REMOTE_READ) != 0, allowed == access_rights::read);
        EXPECT_EQ((region.rights & IBV_ACCESS_REMOTE_WRITE) != 0, allowed == access_rights::write);
        EXPECT_EQ(region.replaced, pages.of(base, size)) << "pages that are not there any more";
    }
};

// Uses begin and end, and memory that is not in use is replaced, in an order that the seed decides.
void use_and_replace(registrations &all, unsigned seed, std::size_t steps) {
    std::mt19937 random(seed);
    const auto below = [&](unsigned limit) { return static_cast<unsigned>(random()) % limit; };
    replaced_pages pages;
    registered_pages = &pages;
    std::vector<use> uses;
    for (std::size_t i = 0; i < steps && !testing::Test::HasFailure(); ++i)
        if (const unsigned what = below(4); what < 2 && uses.size() < 8) {
            use one{pages.at(below(16) * 4) + below(2) * 100, (1 + below(2)) * page_bytes,
                    below(2) != 0 ? access_rights::read : access_rights::write, nullptr};
            one.with = all.take(one.base, one.size, one.allowed);
            ASSERT_NE(one.with, nullptr);
            one.check(pages);
            uses.push_back(one);
        } else if (what < 3 && !uses.empty()) {
            const std::size_t which = below(static_cast<unsigned>(uses.size()));
            uses[which].check(pages);
            all.give(*uses[which].with);
            uses.erase(uses.begin() + static_cast<std::ptrdiff_t>(which));
        } else {
            const std::size_t first = below(replaced_pages::count - 4), number = 1 + below(4);
            bool is_used = false;
            for (const use &each : uses)
                is_used |= each.overlaps(pages.at(first), pages.at(first + number));
            if (!is_used)
                pages.replace(first, number, below(3));
        }
    for (const use &each : uses)
        all.give(*each.with);
    registered_pages = nullptr;
}

bool can_watch_mappings() {
    page_oracle oracle;
    replaced_pages pages;
    registrations all(oracle, false);
    all.give(*all.take(pages.at(0), page_bytes, access_rights::none));
    return oracle.existing() == 1;
}

TEST(kept_registrations, are_of_the_pages_that_are_there) {
    page_oracle oracle;
    {
        registrations all(oracle, false);
        use_and_replace(all, 1, fult::testing::rounds(20'000, 400'000));
        if (can_watch_mappings())
            EXPECT_GT(all.hits(), all.made() / 10); // otherwise nothing would have been tested
        else
            EXPECT_EQ(oracle.existing(), 0U); // nothing is kept
    }
    EXPECT_EQ(oracle.existing(), 0U);
}

TEST(kept_registrations, are_of_the_pages_that_are_there_with_several_threads) {
    page_oracle oracle;
    {
        registrations all(oracle, false);
        std::vector<std::thread> threads;
        for (unsigned i = 0; i < 3; ++i)
            threads.emplace_back(
                [&, i] { use_and_replace(all, 10 + i, fult::testing::rounds(3000, 100'000)); });
        for (std::thread &each : threads)
            each.join();
    }
    EXPECT_EQ(oracle.existing(), 0U);
}

// If no more memory can be registered, those without a use go first.
TEST(kept_registrations, make_room_for_others) {
    constexpr std::size_t most = 4;
    page_oracle oracle(most);
    replaced_pages pages;
    registrations all(oracle, false);
    for (std::size_t i = 0; i < 20; ++i) {
        registration *const one = all.take(pages.at(i), page_bytes, access_rights::read);
        ASSERT_NE(one, nullptr) << i;
        all.give(*one);
    }
    std::vector<registration *> used;
    for (std::size_t i = 0; i < most; ++i)
        used.push_back(all.take(pages.at(40 + i), page_bytes, access_rights::read));
    errno = 0;
    EXPECT_EQ(all.take(pages.at(50), page_bytes, access_rights::read), nullptr); // all are in use
    EXPECT_EQ(errno, ENOMEM);
    for (registration *each : used)
        all.give(*each);
}

TEST(kept_registrations, are_limited_in_number) {
    page_oracle oracle;
    replaced_pages pages;
    registrations all(oracle, false);
    for (std::size_t size = 1; size <= 2000; ++size)
        all.give(*all.take(pages.at(0), size, access_rights::read));
    EXPECT_LE(oracle.existing(), 1024U);
}

// An adapter that follows the page tables is right without being notified.
TEST(kept_registrations, are_not_watched_if_the_adapter_pages_on_demand) {
    page_oracle oracle;
    replaced_pages pages;
    registrations all(oracle, true);
    registration *const first = all.take(pages.at(0), page_bytes, access_rights::read);
    EXPECT_NE(region_of(*first).rights & IBV_ACCESS_ON_DEMAND, 0);
    all.give(*first);
    pages.replace(0, 1, 0);
    EXPECT_EQ(all.take(pages.at(0), page_bytes, access_rights::read), first);
    all.give(*first);
}

} // namespace

// Our declarations of PMIx are those of its headers.
#include <cstddef>
#include <gtest/gtest.h>
#include <pmix.h>
#include <type_traits>

#include "comm/bootstrap/pmix_abi.hpp"

namespace {

namespace ours = fult::comm::detail::pmix;

static_assert(sizeof(ours::proc) == sizeof(pmix_proc_t) &&
              offsetof(ours::proc, rank) == offsetof(pmix_proc_t, rank));
static_assert(sizeof(ours::byte_object) == sizeof(pmix_byte_object_t) &&
              offsetof(ours::byte_object, size) == offsetof(pmix_byte_object_t, size));
static_assert(sizeof(ours::value) == sizeof(pmix_value_t) && alignof(ours::value) == alignof(pmix_value_t) &&
              offsetof(ours::value, data) == offsetof(pmix_value_t, data));
static_assert(sizeof(ours::info) == sizeof(pmix_info_t) &&
              offsetof(ours::info, flags) == offsetof(pmix_info_t, flags) &&
              offsetof(ours::info, value) == offsetof(pmix_info_t, value));

static_assert(std::is_same_v<ours::status_t, pmix_status_t> && std::is_same_v<ours::rank_t, pmix_rank_t> &&
              std::is_same_v<ours::scope_t, pmix_scope_t> &&
              std::is_same_v<ours::data_type_t, pmix_data_type_t>);

// The same function, but for the names of the structures.
template <class T> struct renamed { using type = T; };
template <> struct renamed<ours::proc> { using type = pmix_proc_t; };
template <> struct renamed<ours::value> { using type = pmix_value_t; };
template <> struct renamed<ours::info> { using type = pmix_info_t; };
template <class T> struct renamed<const T> { using type = const typename renamed<T>::type; };
template <class T> struct renamed<T *> { using type = typename renamed<T>::type *; };
template <class R, class... A> struct renamed<R(A...)> {
    using type = typename renamed<R>::type(typename renamed<A>::type...);
};
template <class Ours, class Theirs>
constexpr bool same = std::is_same_v<typename renamed<Ours>::type, std::remove_pointer_t<Theirs>>;

static_assert(same<ours::init_function, decltype(&PMIx_Init)>);
static_assert(same<ours::finalize_function, decltype(&PMIx_Finalize)>);
static_assert(same<ours::abort_function, decltype(&PMIx_Abort)>);
static_assert(same<ours::put_function, decltype(&PMIx_Put)>);
static_assert(same<ours::commit_function, decltype(&PMIx_Commit)>);
static_assert(same<ours::fence_function, decltype(&PMIx_Fence_nb)>);
static_assert(same<ours::get_function, decltype(&PMIx_Get)>);
static_assert(same<ours::error_string_function, decltype(&PMIx_Error_string)>);

TEST(pmix_abi, constants) {
    EXPECT_EQ(ours::success, PMIX_SUCCESS);
    EXPECT_EQ(ours::operation_succeeded, PMIX_OPERATION_SUCCEEDED);
    EXPECT_EQ(ours::wildcard, PMIX_RANK_WILDCARD);
    EXPECT_EQ(ours::global, PMIX_GLOBAL);
    EXPECT_EQ(ours::is_bool, PMIX_BOOL);
    EXPECT_EQ(ours::is_int, PMIX_INT);
    EXPECT_EQ(ours::is_uint32, PMIX_UINT32);
    EXPECT_EQ(ours::is_byte_object, PMIX_BYTE_OBJECT);
    EXPECT_STREQ(ours::job_size, PMIX_JOB_SIZE);
    EXPECT_STREQ(ours::collect_data, PMIX_COLLECT_DATA);
    EXPECT_STREQ(ours::timeout, PMIX_TIMEOUT);
}

TEST(pmix_abi, members_of_values_are_where_the_library_reads_them) {
    pmix_value_t theirs{};
    auto &mine = reinterpret_cast<ours::value &>(theirs);
    mine.type = ours::is_byte_object;
    char bytes[] = "bytes";
    mine.data.bo = {bytes, 5};
    EXPECT_EQ(theirs.type, PMIX_BYTE_OBJECT);
    EXPECT_EQ(theirs.data.bo.bytes, bytes);
    EXPECT_EQ(theirs.data.bo.size, 5U);
    mine.data.integer = -7;
    EXPECT_EQ(theirs.data.integer, -7);
    mine.data.uint32 = 0x80000001U;
    EXPECT_EQ(theirs.data.uint32, 0x80000001U);
}

} // namespace

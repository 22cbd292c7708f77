#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

#include "fult/base/processor_quota.hpp"

namespace {

using fult::detail::processor_quota;
namespace fs = std::filesystem;

// A tree of files as the kernel shows them.
class quota_files : public ::testing::Test {
  protected:
    quota_files() {
        std::string name = (fs::temp_directory_path() / "fult-quota-XXXXXX").string();
        if (!::mkdtemp(name.data()))
            throw std::runtime_error("no temporary folder");
        root_ = name;
    }
    ~quota_files() override { fs::remove_all(root_); }

    void write(const std::string &path, const std::string &text) const {
        const fs::path file = root_ + path;
        fs::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }
    void second_version(const std::string &group, const std::string &top = "/") const {
        write("/proc/self/mountinfo", "22 28 0:20 / /proc rw,nosuid - proc proc rw\n"
                                      "30 23 0:26 " +
                                          top + " /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
        write("/proc/self/cgroup", "0::" + group + "\n");
    }
    void first_version(const std::string &group, const std::string &top = "/") const {
        write("/proc/self/mountinfo",
              "31 30 0:27 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
              "32 30 0:28 " +
                  top + " /sys/fs/cgroup/cpu rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct\n");
        write("/proc/self/cgroup", "9:cpuset:/elsewhere\n4:cpu,cpuacct:" + group + "\n0::/\n");
    }
    void limit_first(const std::string &group, int quota, int period) const {
        write("/sys/fs/cgroup/cpu" + group + "/cpu.cfs_quota_us", std::to_string(quota) + "\n");
        write("/sys/fs/cgroup/cpu" + group + "/cpu.cfs_period_us", std::to_string(period) + "\n");
    }
    std::string root_;
};

TEST_F(quota_files, without_files_there_is_none) { EXPECT_EQ(processor_quota(root_), 0u); }

TEST_F(quota_files, of_the_own_group) {
    second_version("/service/inner");
    write("/sys/fs/cgroup/service/cpu.max", "max 100000\n");
    write("/sys/fs/cgroup/service/inner/cpu.max", "250000 100000\n");
    EXPECT_EQ(processor_quota(root_), 3u) << "rounded up";
}

TEST_F(quota_files, of_a_group_around_it) {
    second_version("/service/inner");
    write("/sys/fs/cgroup/service/cpu.max", "100000 100000\n");
    write("/sys/fs/cgroup/service/inner/cpu.max", "400000 100000\n");
    EXPECT_EQ(processor_quota(root_), 1u);
    write("/sys/fs/cgroup/service/inner/cpu.max", "max 100000\n");
    EXPECT_EQ(processor_quota(root_), 1u);
}

TEST_F(quota_files, of_no_other_group) {
    second_version("/service");
    write("/sys/fs/cgroup/service/cpu.max", "max 100000\n");
    write("/sys/fs/cgroup/service/inner/cpu.max", "100000 100000\n");
    write("/sys/fs/cgroup/other/cpu.max", "100000 100000\n");
    EXPECT_EQ(processor_quota(root_), 0u);
}

TEST_F(quota_files, of_the_top_in_a_namespace) {
    second_version("/");
    write("/sys/fs/cgroup/cpu.max", "150000 100000\n");
    EXPECT_EQ(processor_quota(root_), 2u);
    second_version("/../other"); // a process that has entered the namespace from outside
    EXPECT_EQ(processor_quota(root_), 2u);
}

TEST_F(quota_files, of_the_part_that_a_container_sees) {
    second_version("/docker/1234/inner", "/docker/1234");
    write("/sys/fs/cgroup/cpu.max", "200000 100000\n");
    EXPECT_EQ(processor_quota(root_), 2u);
    write("/sys/fs/cgroup/inner/cpu.max", "100000 100000\n");
    EXPECT_EQ(processor_quota(root_), 1u);
}

TEST_F(quota_files, of_the_first_version) {
    first_version("/service/inner");
    limit_first("", -1, 100000);
    limit_first("/service", 200000, 100000);
    limit_first("/service/inner", -1, 100000);
    EXPECT_EQ(processor_quota(root_), 2u);
    limit_first("/service/inner", 50000, 100000);
    EXPECT_EQ(processor_quota(root_), 1u);
}

TEST_F(quota_files, of_the_first_version_in_a_container) {
    first_version("/docker/1234", "/docker/1234");
    limit_first("", 300000, 100000);
    EXPECT_EQ(processor_quota(root_), 3u);
}

TEST_F(quota_files, of_both_versions_the_lesser) {
    first_version("/service");
    limit_first("/service", 300000, 100000);
    std::ofstream(root_ + "/proc/self/mountinfo", std::ios::app)
        << "33 30 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
    write("/sys/fs/cgroup/unified/cpu.max", "200000 100000\n");
    EXPECT_EQ(processor_quota(root_), 2u);
}

} // namespace

#include "apps/sptrsv/plot.hpp"
#include "support.hpp"

namespace sptrsv {
namespace {
using testing::message_of;
using testing::temporary_file;

TEST(Plot, DrawsABarALevel) {
    const temporary_file file;
    plot_levels(file.path(), "a < b & \"c\"", {1, 10, 100});
    const std::string text = file.text();
    EXPECT_NE(text.find("a &lt; b &amp; &quot;c&quot;</text>"), std::string::npos) << text;
    EXPECT_NE(text.find("111 rows in 3 levels, 37.0 on average"), std::string::npos) << text;
    EXPECT_NE(text.find("d=\"M80 300V300.0H330.0V180.0H580.0V60.0H830.0V300Z\""), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with("</svg>\n"));
}

TEST(Plot, NamesAFileThatItCannotWrite) {
    EXPECT_EQ(message_of([] { plot_levels("/nowhere/plot.svg", "", {1}); }),
              "cannot write '/nowhere/plot.svg': No such file or directory");
    EXPECT_EQ(message_of([] { plot_levels("/dev/full", "", {1}); }),
              "cannot write '/dev/full': No space left on device");
}

} // namespace
} // namespace sptrsv

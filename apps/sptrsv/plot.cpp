#include "plot.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "apps/support/text_file.hpp"

namespace sptrsv {
namespace {

constexpr double width = 860, height = 360, left = 80, right = 830, top = 60, bottom = 300;

std::string escaped(const std::string &text) {
    std::string out;
    for (const char each : text)
        out += each == '&' ? "&amp;" : each == '<' ? "&lt;" : each == '"' ? "&quot;" : std::string(1, each);
    return out;
}

class chart {
  public:
    chart(std::FILE *out, const std::vector<std::int64_t> &sizes)
        : out_(out),
          sizes_(sizes),
          decades_(
              std::max(1.0, std::ceil(std::log10(double(*std::max_element(sizes.begin(), sizes.end())))))) {}

    void draw(const std::string &title) const {
        const std::int64_t rows = std::accumulate(sizes_.begin(), sizes_.end(), std::int64_t{0});
        std::fprintf(out_,
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" role=\"img\" "
                     "aria-label=\"%s\"><style>\n"
                     "  text { font: 13px system-ui, sans-serif; fill: #1f2328 }\n"
                     "  .title { font-size: 15px; font-weight: 600 } .grid { stroke: #d1d9e0 }\n"
                     "  .rows { fill: #d55e00; stroke: #d55e00 }\n"
                     "  @media (prefers-color-scheme: dark) { text { fill: #f0f6fc } .grid { stroke: "
                     "#3d444d } }</style>\n",
                     width, height, escaped(title).c_str());
        std::fprintf(out_, "<text x=\"14\" y=\"24\" class=\"title\">%s</text>\n", escaped(title).c_str());
        std::fprintf(out_,
                     "<text x=\"14\" y=\"44\">Rows of each level: %lld rows in %zu levels, %.1f on "
                     "average</text>\n",
                     static_cast<long long>(rows), sizes_.size(), double(rows) / double(sizes_.size()));
        draw_axes();
        draw_rows();
        std::fprintf(out_, "</svg>\n");
    }

  private:
    double x_of(std::size_t level) const {
        return left + (right - left) * double(level) / double(sizes_.size());
    }
    double y_of(double rows) const { return bottom - (bottom - top) * std::log10(rows) / decades_; }

    void draw_axes() const {
        for (int decade = 0; decade <= int(decades_); ++decade) {
            const double y = y_of(std::pow(10, decade));
            std::fprintf(out_,
                         "<line x1=\"%g\" y1=\"%.1f\" x2=\"%g\" y2=\"%.1f\" class=\"grid\"/>"
                         "<text x=\"%g\" y=\"%.1f\" text-anchor=\"end\">%.0f</text>\n",
                         left, y, right, y, left - 8, y + 4, std::pow(10, decade));
        }
        std::fprintf(out_,
                     "<text x=\"%g\" y=\"%g\">level 1</text><text x=\"%g\" y=\"%g\" "
                     "text-anchor=\"end\">%zu</text>\n",
                     left, bottom + 20, right, bottom + 20, sizes_.size());
    }

    // The outline of a bar a level.
    void draw_rows() const {
        std::fprintf(out_, "<path class=\"rows\" d=\"M%g %g", left, bottom);
        for (std::size_t level = 0; level < sizes_.size(); ++level)
            std::fprintf(out_, "V%.1fH%.1f", y_of(double(sizes_[level])), x_of(level + 1));
        std::fprintf(out_, "V%gZ\"/>\n", bottom);
    }

    std::FILE *out_;
    const std::vector<std::int64_t> &sizes_;
    double decades_;
};

} // namespace

void plot_levels(const std::string &path, const std::string &title, const std::vector<std::int64_t> &sizes) {
    const apps::open_file file = apps::open_text(path, "w");
    chart(file.get(), sizes).draw(title);
    apps::finish_writing(file, path);
}

} // namespace sptrsv

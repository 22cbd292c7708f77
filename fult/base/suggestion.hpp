// What a mistyped name was meant to be. For both libraries and the programs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fult::detail {

// The number of insertions, deletions and replacements that make the one text from the other.
inline std::size_t edit_distance(std::string_view from, std::string_view to) {
    std::vector<std::size_t> row(to.size() + 1); // to each beginning of `to`
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < from.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < to.size(); ++j) {
            const std::size_t replaced = diagonal + (from[i] != to[j] ? 1 : 0);
            diagonal = row[j + 1];
            row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, replaced});
        }
    }
    return row.back();
}

// Keeps the known name that is closest to the typed one, if any is at most two edits away.
class suggestion {
  public:
    explicit suggestion(std::string_view typed) : typed_(typed) {}

    void consider(std::string_view known) {
        const std::size_t edits = edit_distance(typed_, known);
        if (edits < edits_) {
            edits_ = edits;
            best_ = known;
        }
    }

    // "did you mean NAME? ", or nothing.
    std::string question() const {
        return best_.empty() ? std::string() : "did you mean " + std::string(best_) + "? ";
    }

  private:
    std::string_view typed_, best_{};
    std::size_t edits_ = 3;
};

} // namespace fult::detail

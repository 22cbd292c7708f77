// OMP_PLACES (OpenMP 5.1, section 6.5): the sets of processors to which threads may be bound.
#pragma once

#include <sched.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fult::omp {

class place_list {
  public:
    int size() const noexcept { return static_cast<int>(places_.size()); }
    const cpu_set_t &operator[](int place) const noexcept { return places_[static_cast<std::size_t>(place)]; }
    std::vector<int> processors_of(int place) const;
    std::string text() const;       // as OMP_PLACES is written: "{0,1},{2,3}"
    int count_all() const noexcept; // processors in all places together

    // Reads the text of OMP_PLACES. Processors that `usable` lacks are left out, then empty places. Returns
    // false, and leaves the list empty, if the text is not understood or no place is left; then it has
    // warned.
    bool read(const char *text, const cpu_set_t &usable, const char *variable = "OMP_PLACES");
    // The same of GOMP_CPU_AFFINITY: processors, each of which is a place: "0 3 1-2 4-15:2".
    bool read_processors(const char *text, const cpu_set_t &usable);
    // A place for each core.
    void use_cores();
    void use(std::vector<cpu_set_t> listed) noexcept { places_ = std::move(listed); }
    void clear() noexcept { places_.clear(); }

  private:
    bool leave_out(const char *name, const char *text, const cpu_set_t &usable);
    bool read_level(std::string_view text);
    bool read_places(std::string_view text);

    std::vector<cpu_set_t> places_;
};

// The places of this process; none: threads are not bound.
place_list &places() noexcept;

} // namespace fult::omp

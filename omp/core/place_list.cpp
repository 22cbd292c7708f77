#include "place_list.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <exception>
#include <limits>
#include <new>
#include <optional>

#include <fult/detail/assertion.hpp>
#include <fult/detail/processor_groups.hpp>

#include "environment.hpp"
#include "error.hpp"

namespace fult::omp {
namespace {

using detail::processor_level;

struct named_level {
    const char *name;
    processor_level level;
};
constexpr named_level named_levels[] = {{"threads", processor_level::thread},
                                        {"cores", processor_level::core},
                                        {"ll_caches", processor_level::last_cache},
                                        {"numa_domains", processor_level::numa_node},
                                        {"sockets", processor_level::package}};

std::vector<cpu_set_t> places_at(processor_level level) {
    std::vector<cpu_set_t> made;
    for (const std::vector<unsigned> &group : detail::processor_groups(level)) {
        cpu_set_t set;
        CPU_ZERO(&set);
        for (const unsigned processor : group)
            if (processor < CPU_SETSIZE)
                CPU_SET(processor, &set);
        if (CPU_COUNT(&set) != 0)
            made.push_back(set);
    }
    return made;
}

// Numbers of processors and of places beyond this are mistakes.
constexpr long max_place = 65'536;

// The grammar's terminals. A failed read leaves `ok` false; what follows is not looked at.
class reader {
  public:
    explicit reader(std::string_view text) : rest_(trimmed(text)) {}

    bool take(char c) {
        if (rest_.empty() || rest_.front() != c)
            return false;
        rest_ = trimmed(rest_.substr(1));
        return true;
    }
    std::optional<long> number(bool may_be_negative) {
        const bool negative = may_be_negative && take('-');
        if (rest_.empty() || !std::isdigit(static_cast<unsigned char>(rest_.front())))
            return std::nullopt;
        long value = 0;
        while (!rest_.empty() && std::isdigit(static_cast<unsigned char>(rest_.front()))) {
            value = std::min(value * 10 + (rest_.front() - '0'), max_place);
            rest_.remove_prefix(1);
        }
        rest_ = trimmed(rest_);
        return negative ? -value : value;
    }
    bool at_end() const noexcept { return rest_.empty(); }

  private:
    std::string_view rest_;
};

// ":length[:stride]" after a number or a place.
struct repetition {
    long length = 1, stride = 1;
};
std::optional<repetition> read_repetition(reader &r) {
    repetition repeated;
    if (!r.take(':'))
        return repeated;
    const std::optional<long> length = r.number(false);
    if (!length || *length == 0 || *length >= max_place)
        return std::nullopt;
    repeated.length = *length;
    if (r.take(':')) {
        const std::optional<long> stride = r.number(true);
        if (!stride || *stride >= max_place || *stride <= -max_place)
            return std::nullopt;
        repeated.stride = *stride;
    }
    return repeated;
}

// A place as it is written: processors that do not exist may be in it.
using written_place = std::vector<long>;

bool read_interval(reader &r, written_place &into) {
    const bool excluded = r.take('!');
    const std::optional<long> first = r.number(false);
    if (!first)
        return false;
    repetition repeated;
    if (!excluded) {
        const std::optional<repetition> read = read_repetition(r);
        if (!read)
            return false;
        repeated = *read;
    }
    for (long i = 0; i < repeated.length; ++i) {
        const long processor = *first + i * repeated.stride;
        if (processor < 0)
            return false;
        if (excluded)
            std::erase(into, processor);
        else
            into.push_back(processor);
    }
    return true;
}

// "{interval, ...}", or one processor's number.
bool read_place(reader &r, written_place &into) {
    if (!r.take('{')) {
        const std::optional<long> processor = r.number(false);
        if (processor)
            into.push_back(*processor);
        return processor.has_value();
    }
    do
        if (!read_interval(r, into))
            return false;
    while (r.take(','));
    return r.take('}');
}

cpu_set_t set_of(const written_place &written, long shift) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const long processor : written)
        if (const long at = processor + shift; at >= 0 && at < CPU_SETSIZE)
            CPU_SET(static_cast<std::size_t>(at), &set);
    return set;
}

} // namespace

std::vector<int> place_list::processors_of(int place) const {
    FULT_ASSERT(place >= 0 && place < size());
    std::vector<int> list;
    for (int i = 0; i < CPU_SETSIZE; ++i)
        if (CPU_ISSET(static_cast<std::size_t>(i), &(*this)[place]))
            list.push_back(i);
    return list;
}

std::string place_list::text() const {
    std::string written;
    for (int i = 0; i < size(); ++i) {
        const char *before = i == 0 ? "{" : ",{";
        for (const int processor : processors_of(i)) {
            written += before + std::to_string(processor);
            before = ",";
        }
        written += '}';
    }
    return written;
}

int place_list::count_all() const noexcept {
    cpu_set_t all;
    CPU_ZERO(&all);
    for (const cpu_set_t &place : places_)
        CPU_OR(&all, &all, &place);
    return CPU_COUNT(&all);
}

// "cores", or "cores(4)": at most that many places.
bool place_list::read_level(std::string_view text) {
    std::size_t bound = std::numeric_limits<std::size_t>::max();
    if (const std::size_t open = text.find('('); open != text.npos) {
        reader r(text.substr(open + 1));
        const std::optional<long> count = r.number(false);
        if (!count || *count == 0 || !r.take(')') || !r.at_end())
            return false;
        bound = static_cast<std::size_t>(*count);
        text = trimmed(text.substr(0, open));
    }
    for (const auto &[name, level] : named_levels)
        if (equals(text, name)) {
            places_ = places_at(level);
            places_.resize(std::min(places_.size(), bound));
            return true;
        }
    return false;
}

bool place_list::read_places(std::string_view text) {
    reader r(text);
    do {
        const bool excluded = r.take('!');
        written_place written;
        if (!read_place(r, written))
            return false;
        const std::optional<repetition> repeated = excluded ? repetition{} : read_repetition(r);
        if (!repeated)
            return false;
        if (excluded) {
            const cpu_set_t set = set_of(written, 0);
            if (std::erase_if(places_, [&set](const cpu_set_t &place) { return CPU_EQUAL(&place, &set); }) ==
                0)
                return false;
            continue;
        }
        for (long i = 0; i < repeated->length && size() < max_place; ++i)
            places_.push_back(set_of(written, i * repeated->stride));
    } while (r.take(','));
    return r.at_end();
}

bool place_list::read(const char *text, const cpu_set_t &usable, const char *variable) {
    const std::string_view s = trimmed(text);
    clear();
    try {
        if (s.empty() ||
            !(std::isalpha(static_cast<unsigned char>(s.front())) ? read_level(s) : read_places(s))) {
            clear();
            ignored(variable, text);
            return false;
        }
    } catch (const std::exception &error) {
        clear();
        warn("%s=%s is ignored: %s", variable, text, error.what());
        return false;
    }
    return leave_out(variable, text, usable);
}

bool place_list::read_processors(const char *text, const cpu_set_t &usable) {
    clear();
    reader r(text);
    bool understood = !r.at_end();
    while (understood && !r.at_end()) {
        const std::optional<long> first = r.number(false);
        const std::optional<long> last = first && r.take('-') ? r.number(false) : first;
        const std::optional<long> step = last && r.take(':') ? r.number(false) : 1;
        understood = first && last && step && *step > 0 && *first <= *last && *last < max_place;
        for (long at = understood ? *first : 1; understood && at <= *last; at += *step)
            places_.push_back(set_of({at}, 0));
        r.take(','); // or a space
    }
    if (understood)
        return leave_out("GOMP_CPU_AFFINITY", text, usable);
    clear();
    ignored("GOMP_CPU_AFFINITY", text);
    return false;
}

// What this process may not use.
bool place_list::leave_out(const char *name, const char *text, const cpu_set_t &usable) {
    const int written = size();
    for (cpu_set_t &place : places_)
        CPU_AND(&place, &place, &usable);
    std::erase_if(places_, [](const cpu_set_t &place) { return CPU_COUNT(&place) == 0; });
    if (size() == 0)
        warn("%s=%s is ignored: it has no processor that this process may use", name, text);
    else if (size() != written)
        warn("%s=%s: %d of %d places have no processor that this process may use, and are left out", name,
             text, written - size(), written);
    return size() != 0;
}

void place_list::use_cores() {
    try {
        places_ = places_at(processor_level::core);
    } catch (const std::exception &error) {
        warn("OMP_PROC_BIND is ignored: %s", error.what());
    }
}

place_list &places() noexcept {
    alignas(place_list) static std::byte memory[sizeof(place_list)]; // no destructor to register
    static auto *const list = ::new (memory) place_list;
    return *list;
}

} // namespace fult::omp

#include "control.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <forward_list>
#include <mutex>
#include <sched.h>
#include <unistd.h>

#include <fult/detail/assertion.hpp>

#include "fork.hpp"
#include "team.hpp"

namespace fult::omp {

// Programs have few different sets, and tasks that point to one may live long.
const icv_set *kept_icvs(const icv_set &v) {
    FULT_ASSERT(v.is_valid());
    static auto *const sets = new std::forward_list<icv_set>;
    const std::lock_guard lock(mutex_of(shared_state::control_sets));
    for (const icv_set &each : *sets)
        if (each == v)
            return &each;
    return &sets->emplace_front(v);
}

namespace {

std::string processors_here() {
    cpu_set_t set;
    CPU_ZERO(&set);
    std::string text;
    if (::sched_getaffinity(0, sizeof set, &set) != 0)
        return text;
    for (int i = 0; i < CPU_SETSIZE; ++i) {
        if (!CPU_ISSET(i, &set))
            continue;
        int last = i;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set))
            ++last;
        if (!text.empty())
            text += ',';
        text += std::to_string(i);
        if (last > i)
            text.append("-").append(std::to_string(last));
        i = last;
    }
    return text;
}

struct field {
    char letter;
    const char *name;
};
constexpr field fields[] = {{'t', "team_num"},       {'T', "num_teams"},   {'L', "nesting_level"},
                            {'n', "thread_num"},     {'N', "num_threads"}, {'a', "ancestor_tnum"},
                            {'H', "host"},           {'P', "process_id"},  {'i', "native_thread_id"},
                            {'A', "thread_affinity"}};

bool is_number(char letter) { return std::strchr("tTLnNaPi", letter) != nullptr; }

std::string value_of(char letter) {
    const omp_task *const f = current_task();
    switch (letter) {
    case 't':
        return std::to_string(f->in()->league.number);
    case 'T':
        return std::to_string(f->in()->league.teams);
    case 'L':
        return std::to_string(f->in()->level);
    case 'n':
        return std::to_string(f->self->number);
    case 'N':
        return std::to_string(f->in()->size);
    case 'a':
        return f->in()->creator ? std::to_string(f->in()->creator->self->number) : "-1";
    case 'H': {
        char name[256] = "";
        ::gethostname(name, sizeof name - 1);
        return name;
    }
    case 'P':
        return std::to_string(::getpid());
    case 'i':
        return std::to_string(::gettid());
    case 'A':
        return processors_here();
    default:
        return "undefined";
    }
}

} // namespace

// %[0][.][width]letter, or %...{name}.
std::string affinity_text(const char *format) {
    if (!format || !*format)
        format = icvs_of_program().affinity_format;
    std::string text;
    for (const char *at = format; *at; ++at) {
        if (*at != '%') {
            text += *at;
            continue;
        }
        if (*++at == '%') {
            text += '%';
            continue;
        }
        const bool zeros = *at == '0';
        at += zeros;
        const bool right = *at == '.';
        at += right;
        char *end = nullptr;
        const std::size_t width = static_cast<std::size_t>(std::strtoul(at, &end, 10));
        at = end;
        char letter = *at;
        if (letter == '{') {
            const std::string rest(at + 1);
            const std::string name = rest.substr(0, rest.find('}'));
            letter = '?';
            for (const field &each : fields)
                if (name == each.name)
                    letter = each.letter;
            at += name.size() + 1;
        }
        if (!*at)
            break;
        std::string value = value_of(letter);
        if (value.size() < width) {
            const bool filled = zeros && right && is_number(letter);
            const std::size_t at_sign = filled && value.front() == '-' ? 1 : 0;
            value.insert(right ? at_sign : value.size(), width - value.size(), filled ? '0' : ' ');
        }
        text += value;
    }
    return text;
}

void show_affinity(const char *format) {
    std::fprintf(icvs_of_program().affinity_stream, "%s\n", affinity_text(format).c_str());
}

} // namespace fult::omp

#include "dump.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <map>
#include <ostream>
#include <poll.h>
#include <string>
#include <tuple>
#include <unistd.h>
#include <vector>

#include <fult/detail/address.hpp>
#include <fult/inspect.hpp>

#include "fult/base/symbols.hpp"
#include "fult/scheduler/worker.hpp"

namespace fult {
namespace detail {
namespace {

constexpr std::size_t max_shown = 6; // tasks of a group

// Properties shared by the tasks of one group.
struct group_key {
    task_status status;
    bool started;
    bool timed;
    std::string waits_for; // empty: a signal
    std::vector<void *> frames;
    std::vector<void *> spawned_at;

    explicit group_key(const task_description &t)
        : status(t.status),
          started(t.started),
          timed(t.timed),
          waits_for(t.waits_for ? t.waits_for : ""),
          frames(t.frames.begin(), t.frames.end()),
          spawned_at(t.spawned_at.begin(), t.spawned_at.end()) {}
    bool operator<(const group_key &o) const {
        const auto whole = [](const group_key &l) {
            return std::tie(l.status, l.started, l.timed, l.waits_for, l.frames, l.spawned_at);
        };
        return whole(*this) < whole(o);
    }
};

struct member {
    std::string label;
    std::string detail; // of its object
};

struct group {
    std::size_t count = 0;
    const void *object = nullptr;
    bool same_object = true;
    std::string detail;       // of the object
    std::string joined;       // the task that a join waits for
    std::size_t max_used = 0; // bytes of a stack
    std::vector<member> members;

    // Each waits for an object of its own, of which something is known.
    bool has_details() const noexcept { return !same_object && !detail.empty(); }
};

[[gnu::format(printf, 2, 3)]] void append(std::string &to, const char *format, ...) {
    char text[512];
    std::va_list arguments;
    va_start(arguments, format);
    const int length = std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    to.append(text, std::min(static_cast<std::size_t>(std::max(length, 0)), sizeof text - 1));
}

std::string place(int home, std::uint32_t slot) {
    return (home < 0 ? std::string("outside") : std::to_string(home)) + ':' + std::to_string(slot);
}

std::string label(const task_description &t) {
    std::string text = place(t.home, t.slot);
    if (!t.name.empty())
        append(text, " '%.*s'", static_cast<int>(t.name.size()), t.name.data());
    if (t.worker >= 0)
        append(text, " on worker %d", t.worker);
    return text;
}

std::string label(task_id id) {
    const task *t = to_task(id);
    const auto *home = static_cast<const worker *>(home_of(t));
    return place(home->has_thread() ? static_cast<int>(home->index) : -1, slot_of(t));
}

class report {
  public:
    void add(const task_description &t) {
        ++counts_[static_cast<std::size_t>(t.status)];
        group &g = groups_[group_key(t)];
        const void *object = t.joins ? at_address<const void>(t.joins.value()) : t.object;
        if (g.count++ == 0) {
            g.object = object;
            g.joined = t.joins ? label(t.joins) : "";
        }
        if (t.detail && g.detail.empty())
            g.detail = t.detail;
        g.same_object = g.same_object && g.object == object;
        g.max_used = std::max(g.max_used, t.stack_used);
        if (g.members.size() < max_shown)
            g.members.push_back({label(t), t.detail ? t.detail : ""});
    }

    void write(const std::function<void(std::string_view)> &sink, std::size_t all) {
        std::string text;
        append(text, "fult: %zu tasks: %zu running, %zu ready, %zu waiting, %zu blocked\n", all, counts_[0],
               counts_[1], counts_[2], counts_[3]);
        sink(text);
        std::vector<const std::pair<const group_key, group> *> order;
        for (const auto &each : groups_)
            order.push_back(&each);
        std::stable_sort(order.begin(), order.end(),
                         [](const auto *a, const auto *b) { return a->second.count > b->second.count; });
        for (const auto *each : order) {
            text.clear();
            write_group(text, each->first, each->second);
            sink(text);
        }
    }

  private:
    void write_group(std::string &text, const group_key &what, const group &g) {
        append(text, "%zu task%s ", g.count, g.count == 1 ? "" : "s");
        switch (what.status) {
        case task_status::running:
            text += g.count == 1 ? "runs" : "run";
            break;
        case task_status::ready:
            text += what.started ? "may resume" : "may start";
            break;
        case task_status::waiting:
        case task_status::joining_inline:
            write_wait(text, what, g);
            break;
        }
        text += ":\n";
        write_members(text, g);
        if (!what.frames.empty()) {
            append(text, "    stack (%zu bytes%s):\n", g.max_used, g.count == 1 ? "" : " at most");
            for (std::size_t i = 0; i < what.frames.size(); ++i)
                write_frame(text, i, what.frames[i]);
        }
        if (!what.spawned_at.empty())
            write_site(text, what.spawned_at);
    }

    // In a line, or in a line each if what is known of their objects differs.
    static void write_members(std::string &text, const group &g) {
        const bool lines = g.has_details();
        text += "    ";
        for (const member &each : g.members) {
            if (&each != &g.members.front())
                text += lines ? "\n    " : ", ";
            text += each.label;
            if (lines && !each.detail.empty())
                text += ": " + each.detail;
        }
        if (g.count > g.members.size())
            append(text, "%sand %zu more", lines ? "\n    " : " ", g.count - g.members.size());
        text += '\n';
    }

    static void write_wait(std::string &text, const group_key &what, const group &g) {
        const bool one = g.count == 1;
        if (what.status == task_status::joining_inline)
            append(text, "%s a task that runs on %s stack", one ? "joins" : "join", one ? "its" : "their");
        else
            append(text, "%s for %s", one ? "waits" : "wait",
                   what.waits_for.empty() ? "a signal" : what.waits_for.c_str());
        if (g.object && g.same_object && !g.joined.empty()) {
            text += what.status == task_status::joining_inline ? ": " : " of ";
            text += g.joined;
        } else if (g.object && g.same_object) {
            append(text, " at %p", g.object);
        }
        if (!g.detail.empty() && g.same_object)
            append(text, " (%s)", g.detail.c_str());
        if (what.timed)
            text += ", with a limit";
    }

    void write_frame(std::string &text, std::size_t number, const void *at) {
        char line[400];
        const std::size_t length = names_.print(at, line, sizeof line, true);
        append(text, "      #%zu ", number);
        text.append(line, length);
        text += '\n';
    }

    // Prints the innermost function outside the library.
    void write_site(std::string &text, const std::vector<void *> &site) {
        char line[400];
        std::size_t length = 0;
        for (void *at : site) {
            length = names_.print(at, line, sizeof line, true);
            const std::string_view name(line, length);
            if (!name.starts_with("fult::") && name.find(" fult::detail::") == name.npos)
                break;
        }
        text += "    spawned at ";
        text.append(line, length);
        text += '\n';
    }

    symbols names_;
    std::map<group_key, group> groups_;
    std::size_t counts_[4]{};
};

// Returns true if the whole text was written.
bool write_all(int descriptor, std::string_view text) noexcept {
    while (!text.empty()) {
        const ssize_t done = ::write(descriptor, text.data(), text.size());
        if (done < 0 && errno == EAGAIN) {
            pollfd until{descriptor, POLLOUT, 0};
            ::poll(&until, 1, -1);
        } else if (done < 0 && errno != EINTR) {
            return false;
        } else if (done > 0) {
            text.remove_prefix(static_cast<std::size_t>(done));
        }
    }
    return true;
}

} // namespace

std::size_t write_report(const std::function<void(std::string_view)> &sink) {
    report all;
    const std::size_t count = visit_tasks([&](const task_description &t) { all.add(t); });
    all.write(sink, count);
    return count;
}

void write_report(int descriptor) noexcept {
    const int saved = errno;
    try {
        std::string text;
        write_report([&](std::string_view piece) { text += piece; });
        write_all(descriptor, text);
    } catch (const std::bad_alloc &) {
        write_all(descriptor, "fult: no memory for a report of the tasks\n");
    }
    errno = saved;
}

} // namespace detail

void dump_tasks(std::FILE *to) {
    std::string text; // one write: other threads write, too
    detail::write_report([&](std::string_view piece) { text += piece; });
    std::fwrite(text.data(), 1, text.size(), to);
    std::fflush(to);
}

void dump_tasks(std::ostream &to) {
    detail::write_report(
        [&](std::string_view piece) { to.write(piece.data(), static_cast<std::streamsize>(piece.size())); });
    to.flush();
}

int detail::dump_signal() noexcept {
    const detail::worker *here = detail::this_worker();
    const detail::team_visit visit(here);
    const detail::worker_team *team = detail::visited_team(here, visit);
    return team ? team->opts.dump_signal : 0;
}

} // namespace fult

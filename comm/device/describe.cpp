#include "comm/device/describe.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include <fult/inspect.hpp>

#include "comm/device/endpoint_names.hpp"
#include "comm/device/endpoint_state.hpp"
#include "comm/device/one_sided.hpp"

namespace fult::comm::detail {
namespace {

constexpr std::size_t max_text_size = 96; // maximum length of the texts that are combined below

// Endpoints have two numbers each, the second for their collectives; the first pair is the context's own.
bool has_tags(unsigned endpoint) noexcept { return endpoint >= 2 && endpoint % 2 == 0; }

// ", tag 7, endpoint 0 (world)". Tags of the library's own messages mean nothing to a user.
struct whereabouts_text {
    char text[2 * max_text_size];
    whereabouts_text(unsigned endpoint, std::int64_t tag) noexcept {
        char tag_text[max_text_size / 2] = "";
        if (has_tags(endpoint) && tag == any_tag)
            std::snprintf(tag_text, sizeof tag_text, ", any tag");
        else if (has_tags(endpoint))
            std::snprintf(tag_text, sizeof tag_text, ", tag %lld", static_cast<long long>(tag));
        std::snprintf(text, sizeof text, "%s, %s", tag_text, endpoint_text(endpoint).text);
    }
};

struct rank_text {
    char text[max_text_size];
    rank_text(int own, int in_job) noexcept {
        if (own == any_source)
            std::snprintf(text, sizeof text, "any rank");
        else if (own == in_job)
            std::snprintf(text, sizeof text, "rank %d", own);
        else
            std::snprintf(text, sizeof text, "rank %d (rank %d of the job)", own, in_job);
    }
};

void describe(const receive &r, char *text, std::size_t size) noexcept {
    std::snprintf(text, size, "a message from %s%s", rank_text(r.endpoint_source, r.source).text,
                  whereabouts_text(r.endpoint_id, r.tag).text);
}

void describe(const send_operation &s, char *text, std::size_t size) noexcept {
    std::snprintf(text, size, "%s to take its message of %zu bytes%s",
                  rank_text(s.endpoint_rank, s.rank).text, s.size,
                  whereabouts_text(s.endpoint_id, s.tag).text);
}

void describe(const access &a, char *text, std::size_t size) noexcept {
    std::snprintf(text, size, "%s to answer a %s of %zu bytes",
                  rank_text(a.endpoint_rank, a.outgoing_record::rank).text, a.is_put ? "put" : "get", a.size);
}

// The messages that an endpoint holds, as seen by a receive that matches none of them.
class unreceived {
  public:
    explicit unreceived(const receive &r) noexcept : at_(*r.endpoint) {
        at_.each_message([&](const status &envelope) {
            ++count_;
            const bool is_near = envelope.source == r.source || envelope.tag == r.tag;
            (is_near ? near_ : far_).add(envelope);
        });
    }

    void print(char *text, std::size_t size) const noexcept {
        std::size_t used = 0, named = 0;
        const auto append = [&](const char *format, auto... values) {
            const int more = std::snprintf(text + used, size - used, format, values...);
            used = std::min(used + static_cast<std::size_t>(std::max(more, 0)), size - 1);
        };
        for (const few &each : {near_, far_})
            for (std::size_t i = 0; i < each.count && named < max_named; ++i, ++named) {
                const status envelope = at_.own(each.messages[i]);
                append("%s%zu bytes from rank %d, tag %u", named == 0 ? "unreceived there: " : "; ",
                       envelope.size, envelope.source, envelope.tag);
            }
        if (count_ > named)
            append("; and %zu more", count_ - named);
    }

  private:
    static constexpr std::size_t max_named = 3;
    struct few {
        status messages[max_named];
        std::size_t count = 0;
        void add(const status &envelope) noexcept {
            if (count < max_named)
                messages[count++] = envelope;
        }
    };

    endpoint_state &at_;
    few near_, far_; // of the source or with the tag that the receive names; others
    std::size_t count_ = 0;
};

} // namespace

endpoint_text::endpoint_text(unsigned number) noexcept {
    const unsigned made = number / 2 - 1;
    const endpoint_label label = endpoint_label_of(number);
    if (label.front() != '\0')
        std::snprintf(text, sizeof text, "%s%s", number % 2 == 0 ? "" : "the collectives of ", label.data());
    else if (number < 2)
        std::snprintf(text, sizeof text, "the %s", number == 0 ? "context" : "making of an endpoint");
    else
        std::snprintf(text, sizeof text, "%sendpoint %u%s", number % 2 == 0 ? "" : "the collectives of ",
                      made, made == 0 ? " (world)" : "");
}

std::string endpoint_name(unsigned number) { return endpoint_text(number).text; }

void describe_wait(const operation &op, char *text, std::size_t size) noexcept {
    switch (op.type) {
    case operation_kind::receive:
        describe(static_cast<const receive &>(op), text, size);
        break;
    case operation_kind::send:
        describe(static_cast<const send_operation &>(op), text, size);
        break;
    case operation_kind::access:
        describe(static_cast<const access &>(op), text, size);
        break;
    case operation_kind::other:
        std::snprintf(text, size, "%s", rank_text(op.envelope.source, op.envelope.source).text);
        break;
    }
}

void describe_unreceived(const operation &op, char *text, std::size_t size) noexcept {
    text[0] = '\0';
    if (op.type == operation_kind::receive && has_tags(op.endpoint_id))
        unreceived(static_cast<const receive &>(op)).print(text, size);
}

std::string rank_name(int own, int in_job) { return rank_text(own, in_job).text; }

std::string other_rank(const operation &op) {
    const int own = op.envelope.source;
    switch (op.type) {
    case operation_kind::receive: {
        const auto &r = static_cast<const receive &>(op);
        const int source = r.source >= 0 ? r.source : r.sender_rank;
        return rank_name(own, source >= 0 ? source : own);
    }
    case operation_kind::send:
        return rank_name(own, static_cast<const send_operation &>(op).rank);
    case operation_kind::access:
        return rank_name(own, static_cast<const access &>(op).outgoing_record::rank);
    case operation_kind::other:
        break;
    }
    return rank_name(own, own);
}

std::string describe_departure(const operation &op) {
    char waits_for[4 * max_text_size];
    describe_wait(op, waits_for, sizeof waits_for);
    return std::string("it waits for ") + waits_for + ", but " +
           (op.envelope.source == any_source
                ? "every other rank has left the job in good order: their contexts have ended"
                : other_rank(op) + " has left the job in good order: its context has ended") +
           "; every rank makes the calls that others count on before its context ends";
}

std::string where_tasks_wait() {
    const int number = fult::detail::dump_signal();
    const char *name = number != 0 ? ::sigabbrev_np(number) : "USR1";
    const std::string kill =
        "`kill -" + (name ? std::string(name) : std::to_string(number)) + "` of its process";
    return number != 0
               ? kill + " shows where all its tasks wait"
               : "to see where all its tasks wait, start the program with FULT_DUMP_SIGNAL=USR1 and use " +
                     kill;
}

error as_of(const error &failure, const char *call) {
    const std::string text = failure.what(), prefix = "fult-comm: ";
    const std::size_t end = text.find(": ", prefix.size());
    return error(code_of(failure), prefix + call + (end == text.npos ? ": " + text : text.substr(end)));
}

} // namespace fult::comm::detail

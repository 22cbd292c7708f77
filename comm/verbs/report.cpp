// The counters as text.
#include <initializer_list>

#include "comm/verbs/endpoint.hpp"

namespace fult::comm::detail {

std::string verbs_endpoint::report() const {
    const verbs_counts &c = counts();
    const struct {
        std::uint64_t number;
        const char *what;
    } all[] = {{c.sends, "sends"},
               {c.inlined, "of them inline"},
               {c.reads, "reads"},
               {c.writes, "writes"},
               {c.unsignaled, "without a completion"},
               {c.doorbells, "calls to post them"},
               {c.receives, "receives"},
               {c.receive_bells, "calls to post those"},
               {c.completions, "completions"},
               {c.polls, "polls"},
               {c.events, "wake-ups"},
               {c.connections, "connections"},
               {c.broken, "of them broken"},
               {c.greetings, "greetings"},
               {c.strange, "refused greetings"},
               {c.registrations, "registrations"},
               {c.registration_hits, "reused"}};
    std::string text = port_.name;
    for (const auto &each : all)
        text += (&each == all ? ": " : ", ") + std::to_string(each.number) + " " + each.what;
    return text;
}

} // namespace fult::comm::detail

// A simulation in discrete steps on linked lists: hospitals form a tree; in each step some people fall ill,
// patients are examined, and a few are sent to the hospital above. A task a hospital and step.
#include <memory>
#include <vector>

#include "omp/kernels.hpp"

namespace bench::omp {
namespace {

constexpr int branches = 4, levels = 6,
              people = 40; // people: residents of a hospital, on the lowest level

struct patient {
    patient *next = nullptr;
    int remaining = 0; // steps of the examination
    std::uint64_t visits = 0;
};

// A queue of patients in the order of their arrival.
struct line {
    patient *first = nullptr;
    patient **last = &first;
    void append(patient *p) noexcept {
        p->next = nullptr;
        *last = p;
        last = &p->next;
    }
    patient *take(patient **at) noexcept {
        patient *const p = *at;
        *at = p->next;
        if (last == &p->next)
            last = at;
        return p;
    }
};

struct hospital {
    numbers random{0};
    int free = 0; // members of the staff
    line healthy, waiting, examined, sent_up;
    std::vector<std::unique_ptr<hospital>> below;
    std::vector<patient> residents;
};

std::unique_ptr<hospital> make_hospital(int level, std::uint64_t &seed) {
    auto h = std::make_unique<hospital>();
    h->random = numbers(seed++);
    h->free = 1 << (levels - level);
    if (level == levels) {
        h->residents.resize(people);
        for (patient &each : h->residents)
            h->healthy.append(&each);
        return h;
    }
    for (int i = 0; i < branches; ++i)
        h->below.push_back(make_hospital(level + 1, seed));
    return h;
}

void fall_ill(hospital &h) {
    for (patient **at = &h.healthy.first; *at;)
        if (h.random.next() % 100 < 3)
            h.waiting.append(h.healthy.take(at));
        else
            at = &(*at)->next;
}

void examine(hospital &h) {
    for (patient **at = &h.examined.first; *at;) {
        if (--(*at)->remaining > 0) {
            at = &(*at)->next;
            continue;
        }
        ++h.free;
        patient *const p = h.examined.take(at);
        ++p->visits;
        (h.random.next() % 10 == 0 ? h.sent_up : h.healthy).append(p);
    }
    while (h.free > 0 && h.waiting.first) {
        --h.free;
        patient *const p = h.waiting.take(&h.waiting.first);
        p->remaining = 1 + static_cast<int>(h.random.next() % 5);
        h.examined.append(p);
    }
}

// Patients sent up in this step.
void receive_patients(hospital &h) {
    for (const auto &each : h.below)
        while (each->sent_up.first)
            h.waiting.append(each->sent_up.take(&each->sent_up.first));
}

void step(hospital &h) {
    for (const auto &each : h.below) {
        hospital *const lower = each.get();
#pragma omp task firstprivate(lower)
        step(*lower);
    }
    fall_ill(h);
    examine(h);
#pragma omp taskwait
    receive_patients(h);
}

void step_serially(hospital &h) {
    for (const auto &each : h.below)
        step_serially(*each);
    fall_ill(h);
    examine(h);
    receive_patients(h);
}

std::uint64_t summary(const hospital &h) {
    std::uint64_t sum = static_cast<std::uint64_t>(h.free);
    for (const line *each : {&h.healthy, &h.waiting, &h.examined})
        for (const patient *p = each->first; p; p = p->next)
            sum = sum * 31 + p->visits + 1;
    for (const auto &each : h.below)
        sum = sum * 37 + summary(*each);
    return sum;
}

std::unique_ptr<hospital> begin() {
    std::uint64_t seed = 1;
    return make_hospital(1, seed);
}

struct data {
    std::unique_ptr<hospital> root = begin();
    std::uint64_t right = 0;
};

} // namespace

job simulation(unsigned size) {
    auto d = std::make_shared<data>();
    for (unsigned i = 0; i < size; ++i)
        step_serially(*d->root);
    d->right = summary(*d->root);
    d->root = begin();
    job work;
    std::uint64_t hospitals = 0;
    for (std::uint64_t level = 1, count = branches; level < levels; ++level, count *= branches)
        hospitals += count;
    work.tasks = hospitals * size;
    work.warm_up = [] {
        const auto other = begin();
        step(*other);
    };
    work.compute = [d, size] {
        for (unsigned i = 0; i < size; ++i)
            step(*d->root);
    };
    work.check = [d] {
        const bool same = summary(*d->root) == d->right;
        d->root = begin();
        return same ? std::string() : std::string("not the state of the serial program");
    };
    return work;
}

} // namespace bench::omp

// What registers memory: an adapter's protection domain; in tests, what remembers which pages it has seen.
#pragma once

#include <cstddef>
#include <memory>

#include "comm/verbs/library.hpp"

namespace fult::comm::detail {

class registrar {
  public:
    // Returns nullptr and errno if the memory cannot be registered. Any thread.
    virtual ibv_mr *add(void *base, std::size_t size, int rights) noexcept = 0;
    // Any thread.
    virtual void remove(ibv_mr *region) noexcept = 0;

  protected:
    ~registrar() = default;
};

struct region_remover {
    registrar *from = nullptr;
    void operator()(ibv_mr *region) const noexcept { from->remove(region); }
};
using region_ptr = std::unique_ptr<ibv_mr, region_remover>;

class domain_registrar final : public registrar {
  public:
    explicit domain_registrar(ibv_pd *domain) noexcept : domain_(domain) {}
    ibv_mr *add(void *base, std::size_t size, int rights) noexcept override {
        return libibverbs().reg_mr(domain_, base, size, rights);
    }
    void remove(ibv_mr *region) noexcept override { libibverbs().dereg_mr(region); }

  private:
    ibv_pd *const domain_;
};

} // namespace fult::comm::detail

// Triangular systems in one thread, by rows.
#include "program.hpp"

namespace {

using namespace sptrsv;

class serial_ranks {
  public:
    static constexpr apps::version version = apps::version::serial;

    int rank() const { return 0; }
    int size() const { return 1; }
    void barrier() {}
    std::int64_t sum(std::int64_t mine) { return mine; }

    void prepare(const linear_system &given, const command_line &) {
        given_ = &given;
        inverse_ = reciprocals(given.matrix.diagonal);
    }
    void forget() { x_.assign(given_->right.size(), 0); }
    void solve() { substitute(given_->matrix, inverse_, given_->right, x_); }
    std::vector<double> collect() { return x_; }
    std::int64_t tasks() const { return 0; }
    std::int64_t messages() const { return 0; }

  private:
    const linear_system *given_ = nullptr;
    std::vector<double> inverse_, x_;
};

} // namespace

int main(int argc, char **argv) {
    return program_main(argc, argv, apps::version::serial, [](const command_line &wanted) {
        serial_ranks ranks;
        return run(ranks, wanted);
    });
}

// Time to prove the default policy, and to refute one of its mutants.
#include <cstdio>
#include <string>

#include "bench/figures.hpp"
#include "control/verify/verify.hpp"
#include "sim/catalogues.hpp"

int main(int argc, char** argv) {
  using namespace tundish;
  if (argc != 2) {
    std::fprintf(stderr, "usage: verify_bench CATALOG\n");
    return 2;
  }
  const auto xids = sim::load_xids(argv[1]);
  const auto policy = sim::load_policy(argv[1]);
  if (!xids || !policy) {
    std::fprintf(stderr, "verify_bench: %s\n",
                 (!xids ? xids.error() : policy.error()).message().c_str());
    return 1;
  }
  const auto faults = control::verify::faults_of(*xids);
  RemediationPolicy weak = *policy;
  weak.states.at("evacuate").next.pop_back();
  for (int round = 0; round < 5; ++round) {
    const double begin = bench::wall_s();
    const auto found = control::verify::verify({*policy, faults, {}});
    bench::print_figure("verify_s", bench::wall_s() - begin);
    if (!found || !found->is_proved()) {
      std::fprintf(stderr, "verify_bench: the default policy is not proved\n");
      return 1;
    }
    bench::print_figure("verify_states", static_cast<double>(found->states));
    bench::print_figure("verify_transitions", static_cast<double>(found->transitions));
    const double again = bench::wall_s();
    const auto refuted = control::verify::verify({weak, faults, {}});
    bench::print_figure("refute_s", bench::wall_s() - again);
    if (!refuted || refuted->is_proved()) return 1;
  }
  return 0;
}

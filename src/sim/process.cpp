#include "sim/process.hpp"

#include "base/check.hpp"
#include "families/checks/check.hpp"

namespace tundish::sim {

Process::Process(ProcessParts parts)
    : checker(parts.checker),
      scheduler(parts.world.scheduler()),
      ledger(parts.store, scheduler),
      agents(parts.world, parts.trouble, scheduler.alive(), checker),
      bmc(parts.world, parts.trouble, scheduler.alive(), checker),
      switches(parts.world, parts.trouble, scheduler.alive(), checker),
      storage(parts.world, parts.trouble, scheduler.alive(), checker),
      engine(parts.world, parts.trouble, scheduler.alive(), checker,
             *engines::find_engine("slurm")) {
  check(ledger.load().has_value(), "the simulated store must load");
  ledger.on_change([this](const Change& change) { checker.on_change(change); });
  checker.attach(&ledger.view());
  manager = std::make_unique<control::Manager>(
      control::ManagerParts{ledger,
                            scheduler,
                            {agents, bmc, switches, fabrics, engine, nullptr, &storage},
                            secrets,
                            parts.catalogue,
                            parts.policy,
                            parts.limits,
                            std::move(parts.hook),
                            [this](const control::Action& action, const control::Permit& permit) {
                              checker.on_permit(action, permit);
                            },
                            {},
                            checks::judge_bmc});
  manager->start();
}

Process::~Process() { checker.attach(nullptr); }

}  // namespace tundish::sim

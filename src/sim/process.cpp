#include "sim/process.hpp"

#include "base/check.hpp"

namespace tundish::sim {

Process::Process(World& world, MemoryStore& store, const Trouble& trouble,
                 const XidCatalogue& catalogue, const RemediationPolicy& policy, CallLog& calls,
                 PermitLog& permits, std::function<void(const std::string&)> hook)
    : scheduler(world.scheduler()),
      ledger(store, scheduler),
      agents(world, trouble, scheduler.alive(), calls),
      bmc(world, trouble, scheduler.alive(), calls),
      switches(world, trouble, scheduler.alive(), calls),
      engine(world, trouble, scheduler.alive(), calls, *engines::find_engine("slurm")) {
  check(ledger.load().has_value(), "the simulated store must load");
  manager = std::make_unique<control::Manager>(control::ManagerParts{
      ledger, scheduler, {agents, bmc, switches, engine}, secrets, catalogue, policy, {},
      std::move(hook),
      [&permits](const control::Action& action, const control::Permit& permit) {
        permits.count(action, permit);
      },
      {}});
  manager->start();
}

}  // namespace tundish::sim

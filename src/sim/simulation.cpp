#include "sim/simulation.hpp"

#include "sim/site.hpp"

namespace tundish::sim {

SimOptions options_of_seed(std::uint64_t seed) {
  SimOptions options;
  options.seed = seed;
  SimRandom draw(seed * 7919 + 1);
  const auto often = [&draw] { return draw.chance(350); };
  auto& stories = options.stories;
  for (bool* story : {&stories.cut_agents, &stories.commit_faults, &stories.controller_outage,
                      &stories.person_drains, &stories.person_resumes, &stories.hold,
                      &stories.advise, &stories.churn, &stories.joining_spare_fails,
                      &stories.two_faults, &stories.last_spare_fails, &stories.forged_lines}) {
    *story = often();
  }
  options.faults = static_cast<int>(draw.below(7));
  options.crashes = static_cast<int>(draw.below(6));
  if (draw.chance(100)) options.pace = Pace::shipped;
  if (draw.chance(200)) options.trouble = {0, 0, 0, milliseconds(50)};
  for (bool* story : {&stories.storage_outage, &stories.leaf_outage, &stories.maintenance,
                      &stories.slow_node}) {
    *story = often();
  }
  options.domains = draw.chance(400);
  stories.leak = options.domains && draw.chance(500);
  stories.idle_checks = often();
  return options;
}

SimOptions script_options() {
  SimOptions options;
  options.nodes = 11;
  options.gpus = 2;
  options.quota = 12;
  options.length = minutes(120);
  options.settle = minutes(120);
  options.faults = options.decoys = options.crashes = 0;
  options.trouble = {0, 0, 0, milliseconds(300)};
  options.scripted = true;
  return options;
}

SimReport run_simulation(const SimOptions& options) {
  Site site(options);
  site.build();
  site.run_until(site.now() + minutes(5));
  site.let_crash();
  if (options.scripted) {
    plan_script(site);
  } else {
    plan_troubles(site);
  }
  plant_bug(site, options.bug);
  site.run_until(site.now() + options.length + options.settle);
  return site.finish();
}

}  // namespace tundish::sim

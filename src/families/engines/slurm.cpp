// Slurm 22.05 and later, by scontrol and the files beside slurm.conf.
#include "families/engines/engine_driver.hpp"
#include "families/engines/slurm_parts/parts.hpp"

namespace tundish::engines {

extern const EngineDriver slurm;
const EngineDriver slurm{
    .name = "slurm",
    .doc = "Slurm with slurmdbd; members in one partition, spares declared but drained.",
    .render = slurm_parts::render_files,
    .plan = slurm_parts::plan_commands,
    .parse_status = slurm_parts::parse_observation,
};

}  // namespace tundish::engines

#pragma once
// Blame as a person reads it. A tenant's copy lacks what is not his, and this says so.
#include <string>

#include "model/incident.hpp"

namespace tundish::edge::cli {

/// "storage server nas1"; without a name when the reader may not know it.
std::string render_subject(const Incident& incident);
/// Part, evidence, cleared parts, doubts; empty for incidents without blame.
std::string render_blamed(const Incident& incident);
/// Whether its device is a GPU: so are all that are older than blame.
bool is_about_gpu(const Incident& incident);

}  // namespace tundish::edge::cli

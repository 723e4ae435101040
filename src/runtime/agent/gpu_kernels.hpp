#pragma once
// The kernels of our GPU probe, in NVIDIA's portable assembler: the driver translates them for the
// GPU that it has, so nothing of NVIDIA's is needed to build.
#include <string>

namespace tundish::agent {

/// `wrong` of the kernels has a counter for each processor (SM) of the GPU, so many of them.
inline constexpr unsigned wrong_slots = 1024;
/// Products that a warp makes in one round of `matrix`, and floating-point operations of one.
inline constexpr unsigned products_per_round = 8;
inline constexpr unsigned operations_per_product = 2 * 16 * 8 * 16;

/// fill(words, quads, seed), compare(words, quads, seed, wrong), copy(to, from, quads) and
/// matrix(a, b, expected, rounds, wrong); a quad is 16 bytes.
std::string gpu_kernel_text();

}  // namespace tundish::agent

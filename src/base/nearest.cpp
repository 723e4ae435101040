#include "base/nearest.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace tundish {
namespace {

/// Bounds the work that a hostile word can cause.
constexpr std::size_t size_max = 256;

std::size_t changes_between(const std::string& a, const std::string& b) {
  std::vector<std::size_t> line(b.size() + 1);
  for (std::size_t j = 0; j < line.size(); ++j) line[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = line[0];
    line[0] = i;
    for (std::size_t j = 1; j < line.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = line[j];
      line[j] = std::min({change, line[j] + 1, line[j - 1] + 1});
    }
  }
  return line.back();
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string wanted = to_lower(word.substr(0, size_max + 1));
  std::string best;
  if (wanted.size() > size_max) return best;
  std::size_t best_cost = std::max<std::size_t>(2, wanted.size() / 3) + 1;
  for (const auto& candidate : candidates) {
    if (candidate.size() > size_max) continue;
    const std::size_t cost = changes_between(wanted, to_lower(candidate));
    if (cost < best_cost) best_cost = cost, best = candidate;
  }
  return best;
}

std::string which_word(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string near = nearest(word, candidates);
  if (!near.empty()) return "did you mean " + near + "?";
  return candidates.empty() ? std::string() : "known: " + join(candidates, ", ");
}

}  // namespace tundish

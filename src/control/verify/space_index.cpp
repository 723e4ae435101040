#include "control/verify/space_index.hpp"

#include <algorithm>

#include "control/verify/space.hpp"

namespace tundish::control::verify {
namespace {

constexpr std::size_t first_size = 1024;

std::size_t hash_of(const std::array<std::uint64_t, 3>& key) {
  std::uint64_t out = 14695981039346656037ull;
  for (const std::uint64_t word : key) {
    out = (out ^ word) * 0x9E3779B97F4A7C15ull;
    out ^= out >> 32;
  }
  return static_cast<std::size_t>(out);
}

}  // namespace

ConfigIndex::Key ConfigIndex::key_of(const Config& config) {
  Key key{};
  const auto put = [&key](std::size_t word, std::uint64_t value, int bits) {
    key[word] = key[word] << bits | value;
  };
  for (std::size_t i = 0; i < config.spent.size(); ++i) put(i / 8, config.spent[i], 8);
  for (const bool flag : {config.hardware, config.held_by_tenant, config.asked, config.drained,
                          config.isolated, config.bad, config.sick, config.proved, config.wiped,
                          config.hold}) {
    put(2, flag ? 1 : 0, 1);
  }
  put(2, config.state, 8);
  put(2, config.fault, 8);
  return key;
}

void ConfigIndex::grow() {
  table_.assign(std::max(first_size, table_.size() * 2), 0);
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    std::size_t at = hash_of(keys_[i]) & (table_.size() - 1);
    while (table_[at] != 0) at = (at + 1) & (table_.size() - 1);
    table_[at] = static_cast<int>(i) + 1;
  }
}

ConfigIndex::Found ConfigIndex::add(const Config& config) {
  if (keys_.size() * 2 >= table_.size()) grow();
  const Key key = key_of(config);
  std::size_t at = hash_of(key) & (table_.size() - 1);
  for (; table_[at] != 0; at = (at + 1) & (table_.size() - 1)) {
    const int number = table_[at] - 1;
    if (keys_[static_cast<std::size_t>(number)] == key) return {number, false};
  }
  keys_.push_back(key);
  table_[at] = static_cast<int>(keys_.size());
  return {static_cast<int>(keys_.size()) - 1, true};
}

void Ways::finish(std::size_t positions) {
  while (first_.size() <= positions) first_.push_back(edges_.size());
  sources_.resize(edges_.size());
  into_first_.assign(positions + 1, 0);
  for (const Edge& edge : edges_) ++into_first_[static_cast<std::size_t>(edge.to) + 1];
  for (std::size_t i = 0; i < positions; ++i) into_first_[i + 1] += into_first_[i];
  into_.resize(edges_.size());
  std::vector<std::size_t> next(into_first_.begin(), into_first_.end() - 1);
  for (std::size_t from = 0; from < positions; ++from) {
    for (std::size_t number = first_[from]; number < first_[from + 1]; ++number) {
      sources_[number] = static_cast<int>(from);
      into_[next[static_cast<std::size_t>(edges_[number].to)]++] =
          static_cast<std::uint32_t>(number);
    }
  }
}

}  // namespace tundish::control::verify

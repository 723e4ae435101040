#pragma once
// States at random and golden files, for the tests of this folder.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "families/fabrics/fabric_item.hpp"
#include "families/fabrics/parts/rules.hpp"

namespace tundish::fabrics {

inline std::string sample_guid(unsigned number) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%016x", 0x20001U + number * 16);
  return text;
}

inline IbPartitionState sample_partition(int number, std::vector<unsigned> members) {
  IbPartitionState out;
  char name[16];
  std::snprintf(name, sizeof name, "t%05d", number);
  out.name = name;
  out.pkey = 0x100 + number;
  for (const unsigned member : members) {
    out.members.push_back({sample_guid(member), IbMembership::full});
  }
  return out;
}

class RandomState {
 public:
  explicit RandomState(unsigned seed) : random_(seed) {}

  int below(int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(random_); }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(below(static_cast<int>(from.size())))];
  }

  FabricState state(const std::vector<int>& mtus, const std::vector<int>& rates) {
    FabricState out;
    for (int number = below(3); number < 12; number += 1 + below(6)) {
      std::vector<unsigned> members;
      for (unsigned m = static_cast<unsigned>(below(4)); m < 20;
           m += 1 + static_cast<unsigned>(below(8))) {
        members.push_back(m);
      }
      auto partition = sample_partition(number, below(6) == 0 ? std::vector<unsigned>{} : members);
      for (auto& member : partition.members) {
        if (below(3) == 0) member.membership = IbMembership::limited;
      }
      partition.ipoib = below(2) == 0;
      partition.index0 = out.partitions.empty() && !partition.members.empty() && below(2) == 0;
      partition.mtu_bytes = pick(mtus);
      partition.rate_gbps = pick(rates);
      partition.service_level = below(16);
      out.partitions.push_back(std::move(partition));
    }
    return out;
  }

 private:
  std::mt19937 random_;
};

/// TUNDISH_GOLDEN=--accept rewrites the file.
inline void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(TUNDISH_SOURCE_DIR) + "/tests/golden/fabrics/" + name;
  const char* const mode = std::getenv("TUNDISH_GOLDEN");
  if (mode != nullptr && std::string(mode) == "--accept") std::ofstream(path) << text;
  std::ifstream in(path, std::ios::binary);
  const std::string wanted{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(text, wanted) << name;
}

inline std::string render_steps(const std::vector<FabricStep>& steps) {
  std::string out;
  for (const auto& step : steps) {
    out += "# " + step.what + "\n" + step.call + "\n" + step.text + (step.text.empty() ? "" : "\n");
  }
  return out;
}

}  // namespace tundish::fabrics

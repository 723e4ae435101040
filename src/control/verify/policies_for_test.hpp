#pragma once
// The shipped policies and catalogue, as tests read them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "codec/kernel_log/catalogue.hpp"
#include "codec/yaml.hpp"
#include "control/verify/verify.hpp"

namespace tundish::control::verify {

inline std::string text_of(const std::string& path) {
  std::ifstream in(std::string(TUNDISH_SOURCE_DIR) + "/catalog/" + path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

inline const std::vector<KnownFault>& shipped_faults() {
  static const std::vector<KnownFault> faults = [] {
    const std::string xid = text_of("xid.yaml"), sxid = text_of("sxid.yaml");
    const auto catalogue = load_xid_catalogue({xid, "xid.yaml"}, {sxid, "sxid.yaml"});
    EXPECT_TRUE(catalogue) << catalogue.error().message();
    return catalogue ? faults_of(*catalogue) : std::vector<KnownFault>{};
  }();
  return faults;
}

inline RemediationPolicy read_policy(const std::string& text, const std::string& name) {
  RemediationPolicy policy;
  const auto read = parse_yaml(text, policy, name);
  EXPECT_TRUE(read) << (read ? "" : read.error().message());
  return policy;
}

inline RemediationPolicy shipped_policy() {
  return read_policy(text_of("policies/default.yaml"), "default.yaml");
}

/// A policy of a peer that is known to go wrong, and what it breaks by its own header.
struct KnownBad {
  std::string name;
  RemediationPolicy policy, fixed;
  std::vector<std::string> refutes;  ///< the first one is what the peer's report is about
};

inline std::vector<std::string> sorted(std::vector<std::string> list) {
  std::sort(list.begin(), list.end());
  return list;
}

inline std::vector<std::string> refuted_names(const Verification& found) {
  std::vector<std::string> out;
  for (const auto& refutation : found.refuted) out.push_back(refutation.property);
  return sorted(std::move(out));
}

inline std::vector<KnownBad> known_bad() {
  std::vector<KnownBad> out;
  const std::string folder = std::string(TUNDISH_SOURCE_DIR) + "/catalog/policies/known-bad";
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().string().find(".fixed.") == std::string::npos) files.push_back(file.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    KnownBad bad;
    bad.name = file.stem().string();
    const std::string text = text_of("policies/known-bad/" + bad.name + ".yaml");
    bad.policy = read_policy(text, bad.name);
    bad.fixed = read_policy(text_of("policies/known-bad/" + bad.name + ".fixed.yaml"), bad.name);
    const std::string mark = "# refutes: ";
    const auto begin = text.find(mark) + mark.size();
    std::istringstream words(text.substr(begin, text.find('\n', begin) - begin));
    std::string word;
    while (words >> word) {
      if (word.ends_with(',')) word.pop_back();
      bad.refutes.push_back(word);
    }
    out.push_back(std::move(bad));
  }
  return out;
}

}  // namespace tundish::control::verify

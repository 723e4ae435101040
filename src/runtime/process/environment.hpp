#pragma once
#include <string>
#include <utility>
#include <vector>

namespace tundish::process {

/// Strings with the null-terminated table of pointers that exec wants.
class StringTable {
 public:
  explicit StringTable(std::vector<std::string> strings) : strings_(std::move(strings)) {
    for (auto& text : strings_) pointers_.push_back(text.data());
    pointers_.push_back(nullptr);
  }
  StringTable(const StringTable&) = delete;
  StringTable& operator=(const StringTable&) = delete;
  char* const* data() const { return pointers_.data(); }

 private:
  std::vector<std::string> strings_;
  std::vector<char*> pointers_;
};

/// Our environment with the "K=V" of `added` set or replaced.
std::vector<std::string> merge_environment(const std::vector<std::string>& added);

}  // namespace tundish::process

#pragma once
// A switch that takes lines in modes as EOS and NX-OS do. It shares nothing with the code that
// writes them: a mode is known by its header, indentation only says what was meant.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace tundish::switches {

class LineSwitch {
 public:
  struct Mode {
    std::string header;
    std::vector<std::pair<std::string, Mode>> lines;  ///< in the order of entry
  };
  /// Keys that hold one value: a second one takes the place of the first.
  /// Modes that begin with `shut_by_default` show when they are up instead of when they are shut.
  explicit LineSwitch(std::vector<std::string> single_keys, std::string shut_by_default = "")
      : single_(std::move(single_keys)), shut_(std::move(shut_by_default)) {}

  /// Loads a whole configuration or commands. What a command cannot do is in `faults`.
  void run(const std::string& text) {
    std::vector<std::pair<std::size_t, Mode*>> open = {{0, &root_}};
    std::size_t from = 0;
    while (from < text.size()) {
      const std::size_t end = std::min(text.find('\n', from), text.size());
      const std::string raw = text.substr(from, end - from);
      from = end + 1;
      const std::size_t column = raw.find_first_not_of(' ');
      if (column == std::string::npos || raw[column] == '!') continue;
      while (open.size() > 1 && open.back().first >= column + 1) open.pop_back();
      Mode* mode = enter(*open.back().second, raw.substr(column));
      if (mode != nullptr) open.emplace_back(column + 1, mode);
    }
  }

  std::string text() const {
    std::string out;
    write(root_, 0, out);
    return out;
  }
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  static bool begins(const std::string& line, const std::string& key) {
    return line.starts_with(key) && (line.size() == key.size() || line[key.size()] == ' ');
  }

  /// "vrf context>vni" is a key in modes that begin so only.
  std::vector<std::string> keys_in(const Mode& mode) const {
    std::vector<std::string> out;
    for (const auto& key : single_) {
      const std::size_t mark = key.find('>');
      if (mark == std::string::npos)
        out.push_back(key);
      else if (mode.header.starts_with(key.substr(0, mark)))
        out.push_back(key.substr(mark + 1));
    }
    return out;
  }

  /// nullptr: the command left nothing to be inside of.
  Mode* enter(Mode& mode, const std::string& line) {
    if (line.starts_with("default interface ")) {
      std::erase_if(mode.lines, [&](const auto& have) { return have.first == line.substr(8); });
      return nullptr;
    }
    const bool negative = line.starts_with("no ");
    if (negative && remove(mode, line.substr(3))) return nullptr;
    const bool shut_by_default = !shut_.empty() && mode.header.starts_with(shut_);
    if (shut_by_default && line == "no shutdown") {
      mode.lines.emplace_back(line, Mode{});
      return nullptr;
    }
    if (line == "no shutdown" || line == "switchport") {
      // The default: it takes its opposite away and is not shown.
      std::erase_if(mode.lines, [&](const auto& have) {
        return have.first == (line == "switchport" ? "no switchport" : "shutdown");
      });
      return nullptr;
    }
    if (negative && line != "no switchport") {
      faults_.push_back("nothing to take back: " + line);
      return nullptr;
    }
    for (const auto& key : keys_in(mode)) {
      if (!begins(line, key)) continue;
      std::erase_if(mode.lines, [&](const auto& have) { return begins(have.first, key); });
    }
    for (auto& [have, inner] : mode.lines) {
      if (have == line) return &inner;
    }
    mode.lines.emplace_back(line, Mode{line, {}});
    return &mode.lines.back().second;
  }

  /// `no X` takes away the line X, the mode X, or the value of the key X; of a numbered entry the
  /// number is enough.
  bool remove(Mode& mode, const std::string& what) {
    const auto drop = [&](auto matches) {
      return std::erase_if(mode.lines, [&](const auto& have) { return matches(have.first); }) > 0;
    };
    if (drop([&](const std::string& have) { return have == what; })) return true;
    const bool number = what.find_first_not_of("0123456789") == std::string::npos;
    const bool entry = what.starts_with("seq ");
    const auto keys = keys_in(mode);
    const bool key = std::find(keys.begin(), keys.end(), what) != keys.end();
    if (!number && !entry && !key) return false;
    return drop([&](const std::string& have) { return begins(have, what); });
  }

  static void write(const Mode& mode, std::size_t depth, std::string& out) {
    for (const auto& [line, inner] : mode.lines) {
      out += std::string(depth * 3, ' ') + line + "\n";
      write(inner, depth + 1, out);
    }
  }

  std::vector<std::string> single_;
  std::string shut_;
  Mode root_;
  std::vector<std::string> faults_;
};

}  // namespace tundish::switches

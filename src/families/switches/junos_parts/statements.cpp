#include <algorithm>

#include "base/text.hpp"
#include "families/switches/junos_parts/parts.hpp"

namespace tundish::switches::juniper {
namespace {

constexpr std::size_t depth_limit = 64;

/// Words, quoted texts and the marks { } ; [ ]. Comments carry nothing.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  /// Empty at the end. `quoted` tells a text from a mark.
  std::string next(bool& quoted) {
    quoted = false;
    skip();
    if (at_ >= text_.size()) return "";
    const char c = text_[at_];
    if (c == '"') return quoted_text(quoted);
    if (std::string_view("{};[]").find(c) != std::string_view::npos) {
      ++at_;
      return std::string(1, c);
    }
    const std::size_t from = at_;
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n{};[]\"").find(text_[at_]) == std::string_view::npos) {
      ++at_;
    }
    return std::string(text_.substr(from, at_ - from));
  }

 private:
  void skip() {
    while (at_ < text_.size()) {
      if (std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) {
        ++at_;
      } else if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_.substr(at_, 2) == "/*") {
        const std::size_t end = text_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? text_.size() : end + 2;
      } else {
        return;
      }
    }
  }

  std::string quoted_text(bool& quoted) {
    quoted = true;
    const std::size_t end = std::min(text_.find('"', at_ + 1), text_.size());
    std::string out(text_.substr(at_ + 1, end - at_ - 1));
    at_ = std::min(end + 1, text_.size());
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

class BraceReader {
 public:
  explicit BraceReader(std::string_view text) : lexer_(text) {}

  Statements run() {
    bool quoted = false;
    for (std::string word = lexer_.next(quoted); quoted || !word.empty();
         word = lexer_.next(quoted)) {
      if (!quoted && word == "{")
        open();
      else if (!quoted && word == "}")
        close();
      else if (!quoted && word == ";")
        end();
      else if (!quoted && word == "[")
        list_ = true;
      else if (!quoted && word == "]")
        list_ = false;
      else if (!quoted && (word == "inactive:" || word == "protect:")) {
        off_ = off_ || word == "inactive:";
      } else
        (list_ ? values_ : words_).push_back(word);
    }
    if (!words_.empty() || !stack_.empty()) out_.broken.push_back("the text ends within braces");
    return std::move(out_);
  }

 private:
  struct Level {
    std::size_t words;
    bool off;
  };

  void open() {
    if (stack_.size() >= depth_limit) {
      words_.clear();
      return;
    }
    stack_.push_back({path_.size(), off_});
    path_.insert(path_.end(), words_.begin(), words_.end());
    words_.clear();
    held_ = false;
  }

  void close() {
    if (!words_.empty()) end();
    if (stack_.empty()) {
      out_.broken.push_back("a brace too many");
      return;
    }
    // An empty mode is a statement by itself: `family evpn { }`.
    if (!held_) add(path_);
    path_.resize(stack_.back().words);
    off_ = stack_.back().off;
    stack_.pop_back();
    if (stack_.empty() || !stack_.back().off) off_ = false;
    held_ = true;
  }

  void end() {
    Statement line = path_;
    line.insert(line.end(), words_.begin(), words_.end());
    if (values_.empty()) {
      if (!words_.empty()) add(line);
    }
    for (const auto& value : values_) {
      Statement one = line;
      one.push_back(value);
      add(one);
    }
    words_.clear();
    values_.clear();
    list_ = false;
    off_ = !stack_.empty() && stack_.back().off;
    held_ = true;
  }

  void add(const Statement& line) {
    if (!line.empty()) (off_ ? out_.inactive : out_.lines).push_back(line);
  }

  Lexer lexer_;
  Statements out_;
  Statement path_, words_, values_;
  std::vector<Level> stack_;
  bool list_ = false, off_ = false, held_ = false;
};

Statements parse_set_lines(std::string_view text) {
  Statements out;
  for (const auto& raw : split(text, '\n')) {
    const std::string_view line = trim(raw);
    if (line.empty() || line[0] == '#') continue;
    Lexer lexer(line);
    Statement words, list;
    bool quoted = false, in_list = false;
    for (std::string word = lexer.next(quoted); quoted || !word.empty();
         word = lexer.next(quoted)) {
      if (!quoted && (word == "[" || word == "]"))
        in_list = word == "[";
      else
        (in_list || !list.empty() ? list : words).push_back(word);
    }
    const std::string verb = words.empty() ? "" : words[0];
    if (!words.empty()) words.erase(words.begin());
    if (verb == "deactivate" && !words.empty()) {
      out.inactive.push_back(words);
    } else if (verb != "set" || words.empty()) {
      if (verb != "protect") out.broken.emplace_back(line);
    } else if (list.empty()) {
      out.lines.push_back(words);
    }
    for (const auto& value : list) {
      if (verb != "set") break;
      out.lines.push_back(words);
      out.lines.back().push_back(value);
    }
  }
  return out;
}

/// Takes what a `deactivate` names out of the lines.
void apply_inactive(Statements& config) {
  std::vector<Statement> off;
  for (const auto& prefix : config.inactive) {
    const auto below = [&](const Statement& line) {
      return line.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), line.begin());
    };
    std::ranges::copy_if(config.lines, std::back_inserter(off), below);
    std::erase_if(config.lines, below);
  }
  config.inactive.insert(config.inactive.end(), off.begin(), off.end());
}

bool is_plain_word(const std::string& word) {
  return !word.empty() && word.find_first_of(" \t;{}[]#/*\"") == std::string::npos;
}

bool is_path_word(const std::string& word) {
  // Ports and prefixes have slashes; only a comment's mark needs quotes.
  return !word.empty() && word.find_first_of(" \t;{}[]#\"") == std::string::npos &&
         word.find("/*") == std::string::npos;
}

}  // namespace

Statements parse_statements(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = trim(text.substr(at, end - at));
    at = end + 1;
    if (line.empty() || line[0] == '#' || line.starts_with("/*")) continue;
    const bool set = line.starts_with("set ") || line.starts_with("deactivate ");
    if (set) {
      Statements out = parse_set_lines(text);
      apply_inactive(out);
      return out;
    }
    break;
  }
  return BraceReader(text).run();
}

std::string render_statement(const Statement& words) {
  std::string out;
  for (const auto& word : words) {
    if (!out.empty()) out += ' ';
    out += is_plain_word(word) || is_path_word(word) ? word : "\"" + word + "\"";
  }
  return out;
}

}  // namespace tundish::switches::juniper

#include "edge/api/report_check.hpp"

#include <algorithm>
#include <set>

namespace tundish::edge {
namespace {

constexpr std::size_t most_corrections = 8;
constexpr std::size_t text_limit = 16 << 10;
/// An engine's status as its commands print it; the agent sends at most 4 MiB of results.
constexpr std::size_t engine_text_limit = 4 << 20;
constexpr std::size_t list_limit = 4096;
/// Whole numbers that every reader of JSON keeps exactly.
constexpr std::int64_t largest_number = std::int64_t{1} << 53;
/// Clocks that NTP keeps differ by far less.
constexpr Duration clock_slack = seconds(60);

bool may_be_negative(std::string_view field) { return field == "temperature_c"; }

bool is_control(unsigned char c) { return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f; }

/// Also U+0080 to U+009F, two bytes each, which terminals obey like the ones below U+0020.
bool replace_controls(std::string& text) {
  bool changed = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool high =
        c == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (!high && !is_control(c)) continue;
    if (high) text.erase(i, 1);
    text[i] = '?';
    changed = true;
  }
  return changed;
}

class Cleaner final : public Sink {
 public:
  explicit Cleaner(Instant now) : now_(now) {}

  std::vector<std::string> take() { return std::move(corrections_); }

  void begin(const FieldInfo& field) override { path_.push_back(field.name); }
  void end() override { path_.pop_back(); }
  void text(std::string& value) override {
    if (replace_controls(value)) correct("control characters were replaced");
    const bool engine = !path_.empty() && path_.back() == "text" && path_.size() == 2;
    const std::size_t limit = engine ? engine_text_limit : text_limit;
    if (value.size() <= limit) return;
    correct("text of " + std::to_string(value.size()) + " bytes was cut");
    // Not within a character.
    std::size_t end = limit;
    while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xc0) == 0x80) --end;
    value.resize(end);
  }
  void integer(std::int64_t& value) override {
    const bool negative = value < 0 && !may_be_negative(path_.back());
    if (!negative && value <= largest_number && value >= -largest_number) return;
    const std::int64_t taken = value < 0 ? 0 : largest_number;
    correct(std::to_string(value) + " cannot be; taken as " + std::to_string(taken));
    value = taken;
  }
  void flag(bool&) override {}
  void instant(Instant& value) override {
    if (value.us >= 0 && value <= now_ + clock_slack) return;
    correct(value.us < 0 ? "a time before 1970; taken as now"
                         : "a time that has not come; taken as now: is the node's clock right?");
    value = now_;
  }
  void enumerator(int&, std::span<const std::string_view>) override {}
  bool present(bool has) override { return has; }
  std::size_t begin_list(std::size_t size) override {
    if (size > list_limit) correct("list of " + std::to_string(size) + " was cut");
    return std::min(size, list_limit);
  }
  void item(std::size_t) override {}
  void end_list() override {}
  std::vector<std::string> begin_map(std::vector<std::string> keys) override {
    if (keys.size() > list_limit) correct("map of " + std::to_string(keys.size()) + " was cut");
    keys.resize(std::min(keys.size(), list_limit));
    return keys;
  }
  void key(const std::string&) override {}
  void end_map() override {}
  void begin_struct() override {}
  void end_struct() override {}

 private:
  void correct(const std::string& what) {
    if (corrections_.size() >= most_corrections) return;
    std::string where;
    for (const auto& part : path_) where += (where.empty() ? "" : ".") + std::string(part);
    corrections_.push_back(where + ": " + what);
  }

  Instant now_;
  std::vector<std::string_view> path_;
  std::vector<std::string> corrections_;
};

}  // namespace

std::vector<std::string> clean_report(AnyDescribed report, Instant now) {
  Cleaner cleaner(now);
  Fields fields(cleaner);
  report.fields(fields);
  return cleaner.take();
}

}  // namespace tundish::edge

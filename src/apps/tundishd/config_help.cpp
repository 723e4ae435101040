#include "apps/tundishd/config_help.hpp"

#include "apps/tundishd/daemon_config.hpp"

namespace tundish::tundishd {
namespace {

constexpr std::size_t name_width = 24;

/// One line for each key: its name, what it is, and what it is when nothing is said.
class HelpSink final : public Sink {
 public:
  std::string take() { return std::move(out_); }

  void begin(const FieldInfo& field) override {
    name_ = field.name;
    doc_ = field.doc;
    value_.clear();
  }
  void end() override {
    if (doc_.starts_with("tests:")) return;
    const std::string gap(name_.size() < name_width ? name_width - name_.size() : 1, ' ');
    out_ += "  " + name_ + gap + doc_ + (value_.empty() ? "" : " [" + value_ + "]") + "\n";
  }
  void text(std::string& value) override { value_ += (value_.empty() ? "" : ", ") + value; }
  void integer(std::int64_t& value) override { value_ = std::to_string(value); }
  void flag(bool& value) override { value_ = value ? "true" : "false"; }
  void instant(Instant&) override {}
  void enumerator(int& value, std::span<const std::string_view> names) override {
    value_ = names[static_cast<std::size_t>(value)];
  }
  bool present(bool has) override { return has; }
  std::size_t begin_list(std::size_t size) override { return size; }
  void item(std::size_t) override {}
  void end_list() override {}
  std::vector<std::string> begin_map(std::vector<std::string> keys) override { return keys; }
  void key(const std::string&) override {}
  void end_map() override {}
  void begin_struct() override {}
  void end_struct() override {}

 private:
  std::string out_, name_, doc_, value_;
};

}  // namespace

std::string render_help() {
  DaemonConfig config;
  HelpSink sink;
  Fields fields(sink);
  config.fields(fields);
  return "usage: tundishd [--config FILE] [--check] [--restore BACKUP] [--version]\n"
         "Store, controllers and API of one site. Reads /etc/tundish/tundishd.yaml, or FILE.\n"
         "  --check           whether it would start with it; writes nothing, reaches nothing\n"
         "  --restore BACKUP  makes the store from a backup: in a new epoch, and on hold\n"
         "Keys of the file [when nothing is said]:\n" +
         sink.take() + "More: docs/operations.md\n";
}

}  // namespace tundish::tundishd

#pragma once
// Nouns, verbs and flags of a program, as one tree that also documents and completes itself. CLI11
// stays in command.cpp: it costs seconds in every file that includes it.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/instant.hpp"
#include "base/result.hpp"

namespace CLI {
class App;
}

namespace tundish::edge::cli {

enum class Need { optional, required };

/// A flag ("--gpus", "-o,--output") or, without dashes, an argument by position.
struct OptionDoc {
  std::string name = {};
  std::string doc = {};
  Need need = Need::optional;
  std::vector<std::string> choices = {};  ///< empty: anything
};

/// What completion and reference pages need to know.
struct CommandDoc {
  std::string name, doc;
  std::vector<OptionDoc> options;
  std::vector<CommandDoc> commands;
};

/// What the parse found: an exit code at once (help, bad flag), or what to run.
struct Parsed {
  int exit_code = 0;
  std::string out, err;
  std::function<Result<int>()> action;
};

/// A place in the tree. Cheap to copy; lives no longer than its CommandTree. The variables that
/// values are read into must live until the action has run.
class Command {
 public:
  struct Shared;
  Command(CLI::App& app, Shared& shared) : app_(&app), shared_(&shared) {}

  /// A group: one of its own commands must follow.
  Command noun(const std::string& name, const std::string& doc);
  Command verb(const std::string& name, const std::string& doc);
  void take(const OptionDoc& option, std::string& into);
  void take(const OptionDoc& option, std::vector<std::string>& into);
  void take(const OptionDoc& option, int& into);
  void take(const OptionDoc& option, bool& into);
  /// As "90s", "10m", "2h" or "1d".
  void take(const OptionDoc& option, Duration& into);
  /// Everything after "--".
  void take_rest(const OptionDoc& option, std::vector<std::string>& into);
  /// Works, but is neither in help nor in completion.
  void hide();
  void run(std::function<Result<int>()> action);

 private:
  CLI::App* app_;
  Shared* shared_;
};

class CommandTree {
 public:
  CommandTree(const std::string& name, const std::string& doc);
  ~CommandTree();
  Command root();
  /// Adds --version, which prints `text` and ends.
  void set_version(const std::string& text);
  Parsed parse(const std::vector<std::string>& args);
  CommandDoc describe() const;

 private:
  std::unique_ptr<Command::Shared> shared_;
};

/// "90s", "10m", "2h", "1d"; `invalid` for anything else.
Result<Duration> parse_span(const std::string& text);

}  // namespace tundish::edge::cli

#include "edge/cli/command.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <map>
#include <sstream>

#include "base/text.hpp"
#include "edge/cli/usage_error.hpp"

namespace tundish::edge::cli {
namespace {

constexpr int bad_flag = 2;
const std::string hidden_group;  // CLI11 leaves the group "" out of help

struct Rest {
  OptionDoc doc;
  std::vector<std::string>* into = nullptr;
};

}  // namespace

struct Command::Shared {
  CLI::App app;
  std::map<const CLI::App*, Rest> rests;
  std::map<const CLI::Option*, OptionDoc> docs;
  std::function<Result<int>()> action;
  const CLI::App* chosen = nullptr;

  void keep(CLI::Option* option, const OptionDoc& doc) {
    option->required(doc.need == Need::required);
    if (!doc.choices.empty()) option->check(CLI::IsMember(doc.choices));
    docs[option] = doc;
  }
};

Result<Duration> parse_span(const std::string& text) {
  static const std::map<char, Duration> units = {
      {'s', seconds(1)}, {'m', minutes(1)}, {'h', hours(1)}, {'d', hours(24)}};
  const auto unit = text.empty() ? units.end() : units.find(text.back());
  const auto count = text.empty() ? std::nullopt : parse_integer(text.substr(0, text.size() - 1));
  constexpr std::int64_t count_max = 1000000;
  if (unit == units.end() || !count || *count < 0 || *count > count_max) {
    return make_error(Code::invalid, "\"" + text + "\" is no span of time")
        .with_remedy("write for example 90s, 10m, 2h or 1d");
  }
  return unit->second * *count;
}

Command Command::noun(const std::string& name, const std::string& doc) {
  CLI::App* const app = app_->add_subcommand(name, doc);
  // Exactly one: further words are values then, even when they are names of commands.
  app->require_subcommand(1);
  app->fallthrough();
  return {*app, *shared_};
}

Command Command::verb(const std::string& name, const std::string& doc) {
  CLI::App* const app = app_->add_subcommand(name, doc);
  app->fallthrough();
  return {*app, *shared_};
}

void Command::take(const OptionDoc& option, std::string& into) {
  shared_->keep(app_->add_option(option.name, into, option.doc), option);
}
void Command::take(const OptionDoc& option, std::vector<std::string>& into) {
  CLI::Option* const made = app_->add_option(option.name, into, option.doc);
  // A flag takes one value each time, so that it does not swallow the words after it.
  if (option.name.front() == '-') made->expected(1)->take_all();
  shared_->keep(made, option);
}
void Command::take(const OptionDoc& option, int& into) {
  shared_->keep(app_->add_option(option.name, into, option.doc), option);
}
void Command::take(const OptionDoc& option, bool& into) {
  shared_->keep(app_->add_flag(option.name, into, option.doc), option);
}

void Command::take(const OptionDoc& option, Duration& into) {
  const auto read = [&into](const std::string& text) {
    const auto span = parse_span(text);
    if (!span) throw CLI::ValidationError(span.error().message());
    into = *span;
  };
  shared_->keep(app_->add_option_function<std::string>(option.name, read, option.doc), option);
}

void Command::take_rest(const OptionDoc& option, std::vector<std::string>& into) {
  shared_->rests[app_] = {option, &into};
  app_->footer("-- " + option.name + "   " + option.doc);
}

void Command::hide() { app_->group(hidden_group); }

void Command::run(std::function<Result<int>()> action) {
  app_->callback([shared = shared_, app = app_, action = std::move(action)] {
    shared->action = action;
    shared->chosen = app;
  });
}

CommandTree::CommandTree(const std::string& name, const std::string& doc)
    : shared_(std::make_unique<Command::Shared>()) {
  shared_->app.name(name);
  shared_->app.description(doc);
  shared_->app.require_subcommand(1);
  shared_->app.fallthrough();
}

CommandTree::~CommandTree() = default;

void CommandTree::set_version(const std::string& text) {
  const OptionDoc doc{"--version", "print the version"};
  shared_->docs[shared_->app.set_version_flag(doc.name, text, doc.doc)] = doc;
}

Command CommandTree::root() { return {shared_->app, *shared_}; }

Parsed CommandTree::parse(const std::vector<std::string>& args) {
  Parsed parsed;
  const auto mark = std::find(args.begin(), args.end(), "--");
  std::vector<std::string> words(args.begin(), mark);
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the end
  const std::string name = shared_->app.get_name();
  try {
    shared_->app.parse(words);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out, err;
    const bool is_help = shared_->app.exit(error, out, err) == 0;
    parsed.exit_code = is_help ? 0 : bad_flag;
    parsed.out = out.str();
    parsed.err =
        is_help ? err.str() : explain_usage(shared_->app, {args.begin(), mark}, error.what());
    return parsed;
  }
  const auto rest = shared_->rests.find(shared_->chosen);
  if (rest != shared_->rests.end()) {
    if (mark != args.end()) rest->second.into->assign(mark + 1, args.end());
  } else if (mark != args.end()) {
    parsed.exit_code = bad_flag;
    parsed.err = name + ": this command takes nothing after \"--\"\n";
    return parsed;
  }
  parsed.action = shared_->action;
  return parsed;
}

namespace {

CommandDoc describe_app(const CLI::App& app, const Command::Shared& shared) {
  CommandDoc doc{app.get_name(), app.get_description(), {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    const auto known = shared.docs.find(option);
    if (known != shared.docs.end()) doc.options.push_back(known->second);
  }
  const auto shown = [](const CLI::App* sub) { return sub->get_group() != hidden_group; };
  for (const CLI::App* sub : app.get_subcommands(shown)) {
    doc.commands.push_back(describe_app(*sub, shared));
  }
  return doc;
}

}  // namespace

CommandDoc CommandTree::describe() const { return describe_app(shared_->app, *shared_); }

}  // namespace tundish::edge::cli

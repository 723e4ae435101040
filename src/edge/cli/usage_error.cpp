#include "edge/cli/usage_error.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "base/quote.hpp"
#include "base/text.hpp"
#include "edge/cli/suggest.hpp"

namespace tundish::edge::cli {
namespace {

using Names = std::vector<std::string>;

/// How far the words name commands, and the first word or flag that names nothing.
struct Place {
  std::vector<const CLI::App*> apps;  ///< from the program down
  std::string word, flag;

  const CLI::App& app() const { return *apps.back(); }
  std::string path() const {
    Names names;
    for (const auto* app : apps) names.push_back(app->get_name());
    return join(names, " ");
  }
};

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  // Hidden ones are in the group "".
  return app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
}

Names names_of(const CLI::App& app) {
  Names names;
  for (const auto* sub : commands_of(app)) names.push_back(sub->get_name());
  return names;
}

Names flags_of(const Place& place) {
  Names flags = {"--help"};
  for (const auto* app : place.apps) {
    for (const auto* option : app->get_options()) {
      for (const auto& name : option->get_lnames()) flags.push_back("--" + name);
    }
  }
  return flags;
}

/// Flags of outer commands may stand anywhere.
const CLI::Option* find_flag(const Place& place, const std::string& name) {
  for (const auto* app : place.apps) {
    if (const auto* option = app->get_option_no_throw(name)) return option;
  }
  return nullptr;
}

/// Whether the value of the flag is the next word; notes a flag that nobody knows.
bool takes_next(Place& place, const std::string& word) {
  const bool is_long = word.starts_with("--");
  const auto sign = word.find('=');
  const std::string name = is_long ? word.substr(0, sign) : word.substr(0, 2);
  const auto* option = find_flag(place, name);
  if (!option) {
    if (place.flag.empty()) place.flag = name;
    return false;
  }
  const bool has_own = is_long ? sign != std::string::npos : word.size() > 2;
  return option->get_items_expected_max() > 0 && !has_own;
}

Place locate(const CLI::App& root, const Names& words) {
  Place place{{&root}, "", ""};
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].size() > 1 && words[i].front() == '-') {
      i += takes_next(place, words[i]) ? 1 : 0;
      if (!place.flag.empty()) break;  // whether it takes a value is not known
      continue;
    }
    const auto commands = place.app().get_subcommands([](const CLI::App*) { return true; });
    if (commands.empty()) continue;
    const CLI::App* next = nullptr;
    for (const auto* sub : commands) next = sub->get_name() == words[i] ? sub : next;
    if (!next) {
      place.word = words[i];
      break;
    }
    place.apps.push_back(next);
  }
  return place;
}

std::string code(const std::string& text) { return "`" + text + "`"; }

/// A verb without its noun: the nouns that have it, when they are few.
Names nouns_with(const CLI::App& root, const std::string& verb) {
  Names found;
  for (const auto* noun : commands_of(root)) {
    for (const auto& name : names_of(*noun)) {
      if (name == verb) {
        found.push_back(code(root.get_name() + " " + noun->get_name() + " " + verb));
      }
    }
  }
  constexpr std::size_t few = 3;
  return found.size() <= few ? found : Names{};
}

std::string suggest_command(const Place& place) {
  if (place.apps.size() == 1) {
    const Names with_noun = nouns_with(place.app(), place.word);
    if (!with_noun.empty()) return "did you mean " + join(with_noun, " or ") + "? ";
  }
  const std::string near = did_you_mean(place.word, names_of(place.app()));
  return near.empty() ? "" : near + " ";
}

}  // namespace

std::string explain_usage(const CLI::App& root, const Names& words, const std::string& cause) {
  const Place place = locate(root, words);
  const std::string program = root.get_name() + ": ";
  const std::string what = place.apps.size() == 1 ? "" : place.path().substr(program.size() - 1);
  const std::string lead = what.empty() ? program : program + what + ": ";
  const std::string help = "see " + code(place.path() + " --help") + "\n";
  if (!place.word.empty()) {
    return lead + "no command is called " + in_quotes(place.word) +
           "\n  remedy: " + suggest_command(place) + help;
  }
  if (!place.flag.empty()) {
    const std::string near = did_you_mean(place.flag, flags_of(place));
    return lead + "no flag is called " + shorten(place.flag) +
           "\n  remedy: " + (near.empty() ? "" : near + " ") + help;
  }
  const Names commands = names_of(place.app());
  if (!commands.empty()) {
    return lead + "a command must follow: " + join(commands, ", ") + "\n  remedy: " + help;
  }
  return lead + cause + "\n  remedy: " + help;
}

}  // namespace tundish::edge::cli

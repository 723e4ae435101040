#pragma once
// list and show of a kind that needs nothing special.
#include <memory>

#include "edge/cli/context.hpp"

namespace tundish::edge::cli {

/// Meta.name, or the id of what has no name.
template <class T>
std::string name_of(const T& object) {
  return object.meta.name.empty() ? object.id.str() : object.meta.name;
}

/// Names of a kind by id: what a table shows instead of ids. Without the right to read the kind it
/// is empty, and the ids are shown.
using Names = std::map<std::string, std::string>;
template <class T>
Names load_names(const ApiClient& client, const std::string& plural) {
  Names names;
  const auto objects = get_objects<T>(client, api_path({plural}));
  if (!objects) return names;
  for (const T& object : *objects) names[object.id.str()] = name_of(object);
  return names;
}
inline std::string name_in(const Names& names, const std::string& id) {
  const auto found = names.find(id);
  return found == names.end() ? or_dash(id) : found->second;
}

struct KindWords {
  std::string plural;    ///< in paths
  std::string singular;  ///< in sentences
};

template <Described T>
void add_list(Command noun, Context& context, const KindWords& words,
              std::function<Listing<T>(const ApiClient&)> listing) {
  Command list = noun.verb("list", "list every " + words.singular);
  list.run([&context, words, listing = std::move(listing)]() -> Result<int> {
    const ApiClient client = TRY(context.connect());
    const auto items = TRY(client.list(api_path({words.plural})));
    return show_items<T>(context, items, listing(client));
  });
}

template <Described T>
void add_show(Command noun, Context& context, const KindWords& words) {
  Command show = noun.verb("show", "show one " + words.singular);
  const auto name = std::make_shared<std::string>();
  show.take({"name", "name or id", Need::required}, *name);
  show.run([&context, words, name]() -> Result<int> {
    const ApiClient client = TRY(context.connect());
    return show_object<T>(context, TRY(client.get(api_path({words.plural, *name}))));
  });
}

template <Described T>
void add_list_and_show(Command noun, Context& context, const KindWords& words,
                       const Listing<T>& listing) {
  add_list<T>(noun, context, words, [listing](const ApiClient&) { return listing; });
  add_show<T>(noun, context, words);
}

/// A deletion that asks first. `lost` says what goes with it.
void add_delete(Command noun, Context& context, const KindWords& words, const std::string& lost);

/// "1 node", "3 nodes".
std::string count_of(int count, const std::string& noun);

}  // namespace tundish::edge::cli

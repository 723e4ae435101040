#include "edge/cli/simple_kind.hpp"

#include <ostream>

namespace tundish::edge::cli {

void add_delete(Command noun, Context& context, const KindWords& words, const std::string& lost) {
  Command verb = noun.verb("delete", "delete one " + words.singular);
  const auto name = std::make_shared<std::string>();
  verb.take({"name", "name or id", Need::required}, *name);
  verb.run([&context, words, lost, name]() -> Result<int> {
    if (!context.confirm("This deletes " + words.singular + " " + *name + ": " + lost)) {
      return exit_declined;
    }
    ApiChange change{"DELETE", api_path({words.plural, *name}), ""};
    if (!TRY(context.change(change))) return exit_done;
    if (context.form() == OutputForm::table) {
      context.out() << words.singular << " " << *name << " deleted\n";
    }
    return exit_done;
  });
}

std::string count_of(int count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace tundish::edge::cli

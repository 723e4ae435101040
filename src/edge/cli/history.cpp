// history: list, export, verify.
#include <fstream>
#include <ostream>

#include "edge/api/contract.hpp"
#include "edge/cli/nouns.hpp"
#include "edge/cli/simple_kind.hpp"
#include "model/operation.hpp"

namespace tundish::edge::cli {
namespace {

struct HistoryArgs {
  std::string object, file;
  int limit = 50;
  int before = 0;  ///< sequence; 0: from the newest
};

constexpr std::int64_t export_page = 5000;

Listing<HistoryEntry> history_listing() {
  return {{"REVISION", "AT", "ACTOR", "OPERATION", "OBJECT", "OUTCOME", "REASON"},
          [](const HistoryEntry& entry) -> Cells {
            return {std::to_string(entry.revision),
                    render_local(entry.at),
                    entry.actor,
                    entry.operation,
                    or_dash(entry.object),
                    entry.outcome,
                    or_dash(entry.reason)};
          }};
}

Result<std::vector<JsonValue>> get_entries(const ApiClient& client, const std::string& query) {
  return TRY(JsonValue::parse(TRY(client.get("/v1/history?" + query)))).items();
}

Result<int> list_history(Context& context, const HistoryArgs& args) {
  const ApiClient client = TRY(context.connect());
  std::string query = "newest_first=true&limit=" + std::to_string(args.limit);
  if (!args.object.empty()) query += "&object=" + escape_word(args.object);
  if (args.before > 0) query += "&before=" + std::to_string(args.before);
  std::vector<std::string> items;
  std::int64_t last = 0;
  for (const auto& entry : TRY(get_entries(client, query))) {
    items.push_back(entry.render());
    last = entry.at("sequence").as_integer().value_or(0);
  }
  const int code = TRY(show_items<HistoryEntry>(context, items, history_listing()));
  if (static_cast<int>(items.size()) == args.limit && last > 1) {
    context.note("older ones: tundish history list --before " + std::to_string(last));
  }
  return code;
}

/// Page by page, each after the sequence that the one before ended with.
Result<std::int64_t> write_entries(const ApiClient& client, const HistoryArgs& args,
                                   std::ostream& out) {
  std::int64_t seen = 0, written = 0;
  while (true) {
    const auto page = TRY(get_entries(
        client, "after=" + std::to_string(seen) + "&limit=" + std::to_string(export_page) +
                    (args.object.empty() ? "" : "&object=" + escape_word(args.object))));
    for (const auto& entry : page) {
      const std::int64_t sequence = entry.at("sequence").as_integer().value_or(0);
      if (sequence <= seen) return make_error(Code::corrupt, "the history numbers no entries");
      seen = sequence;
      out << entry.render() << "\n";
      ++written;
    }
    if (static_cast<std::int64_t>(page.size()) < export_page) return written;
  }
}

Result<int> export_history(Context& context, const HistoryArgs& args) {
  const ApiClient client = TRY(context.connect());
  if (args.file.empty()) {
    (void)TRY(write_entries(client, args, context.out()));
    return exit_done;
  }
  std::ofstream file(args.file, std::ios::trunc);
  const std::int64_t written = TRY(write_entries(client, args, file));
  file.close();
  if (!file) return make_error(Code::internal, "cannot write " + args.file);
  context.note(std::to_string(written) + " entries written to " + args.file);
  return exit_done;
}

Result<int> verify(Context& context) {
  const ApiClient client = TRY(context.connect());
  const auto body = TRY(client.get("/v1/history/verify"));
  const auto verdict = TRY(parse_object<HistoryVerdict>(body));
  const int code = TRY(show_object<HistoryVerdict>(context, body, [](const HistoryVerdict& told) {
    const std::string entries = std::to_string(told.entries) + " entries";
    return told.intact ? "history intact: " + entries + ", last hash " + told.last_hash +
                             "\nkeep the last hash elsewhere: it shows whether the tail was cut\n"
                       : "history BROKEN after " + entries + ": " + told.fault + "\n";
  }));
  return verdict.intact ? code : exit_refused;
}

}  // namespace

void add_history(Command root, Context& context) {
  Command noun = root.noun("history", "every durable change and refused call, chained by hashes");
  const auto args = std::make_shared<HistoryArgs>();
  const OptionDoc object{"--object",
                         "only what is about it: kind/name, kind/id or the start of one"};
  Command list = noun.verb("list", "the newest entries");
  list.take(object, args->object);
  list.take({"--limit", "how many"}, args->limit);
  list.take({"--before", "only entries with a lower sequence"}, args->before);
  list.run([&context, args] { return list_history(context, *args); });
  Command export_verb = noun.verb("export", "all entries, one JSON object a line");
  export_verb.take(object, args->object);
  export_verb.take({"--file", "file to write; without it standard output"}, args->file);
  export_verb.run([&context, args] { return export_history(context, *args); });
  noun.verb("verify", "check every hash").run([&context] { return verify(context); });
}

}  // namespace tundish::edge::cli

#include <algorithm>

#include "base/quote.hpp"
#include "base/text.hpp"
#include "edge/api/handlers.hpp"
#include "edge/api/kinds.hpp"

namespace tundish::edge::api {
namespace {

constexpr std::int64_t largest_page = 10000;

/// Words that begin what history is about, beside the kinds of objects.
constexpr std::string_view other_objects[] = {"inventory", "agent_cursor", "policy"};

/// A filter that fits nothing by a typing error would look like a clean history.
Result<> check_object(const std::string& object) {
  if (object.empty()) return {};
  const auto slash = object.find('/');
  const std::string_view head = std::string_view(object).substr(0, slash);
  const auto fits = [&](std::string_view kind) {
    return slash == std::string::npos ? kind.starts_with(head) : kind == head;
  };
  std::string known;
  for (const auto& kind : all_kinds()) {
    if (fits(kind.name)) return {};
    known += (known.empty() ? "" : ", ") + std::string(kind.name);
  }
  for (const auto& other : other_objects) {
    if (fits(other)) return {};
  }
  return make_error(Code::invalid,
                    "history is about no object of kind \"" + std::string(head) + "\"")
      .with_remedy("give KIND/NAME or the start of it; kinds are " + known);
}

/// Prefixes of what history tells of the object: creations name it, what follows has its id.
std::vector<std::string> words_for(const Registry& view, const std::string& object) {
  std::vector<std::string> out = {object};
  const auto slash = object.find('/');
  if (slash == std::string::npos) return out;
  const Kind* kind = find_kind(object.substr(0, slash));
  if (!kind) return out;
  for (const auto& id : kind->ids_named(view, object.substr(slash + 1))) {
    const std::string word = object.substr(0, slash + 1) + id;
    if (word != object) out.push_back(word);
  }
  return out;
}

/// "node/n1" is no start of "node/n10" when there is a node n1.
bool is_about(const HistoryEntry& entry, const std::string& word) {
  if (!entry.object.starts_with(word)) return false;
  if (entry.object.size() == word.size()) return true;
  return entry.object[word.size()] == '/' || entry.object[word.size()] == ' ';
}

/// Entries about any of the words, each exactly, up to the query's limit.
Result<std::vector<HistoryEntry>> find_entries(const Backend& b, HistoryQuery query,
                                               const std::vector<std::string>& words) {
  const int limit = query.limit;
  std::vector<HistoryEntry> found;
  for (const auto& word : words) {
    HistoryQuery page = query;
    page.object = word;
    page.limit = static_cast<int>(largest_page);
    int taken = 0;
    while (taken < limit) {
      auto entries = TRY(b.parts.store.history(page));
      for (auto& entry : entries) {
        (page.newest_first ? page.before : page.after) = entry.sequence;
        if (!is_about(entry, word) || taken == limit) continue;
        ++taken;
        found.push_back(std::move(entry));
      }
      if (static_cast<int>(entries.size()) < page.limit) break;
    }
  }
  std::ranges::sort(found, [&](const HistoryEntry& left, const HistoryEntry& right) {
    return query.newest_first ? left.sequence > right.sequence : left.sequence < right.sequence;
  });
  if (static_cast<int>(found.size()) > limit) found.resize(static_cast<std::size_t>(limit));
  return found;
}

Result<bool> read_order(const Call& call) {
  const std::string text = call.query("newest_first");
  if (text == "true") return true;
  if (text.empty() || text == "false") return false;
  return make_error(Code::invalid, "newest_first \"" + text + "\" is neither true nor false");
}

Result<std::int64_t> read_number(const Call& call, const std::string& name, std::int64_t start) {
  const std::string text = call.query(name);
  if (text.empty()) return start;
  const auto number = parse_integer(text);
  if (number && *number >= 0) return *number;
  return make_error(Code::invalid, name + " " + in_quotes(text) + " is no number from 0");
}

Result<BackupRequest> plan_backup(const Call& call) {
  BackupRequest asked = TRY(parse_body<BackupRequest>(call));
  if (!asked.path.starts_with("/")) {
    return make_error(Code::invalid, "backup path \"" + asked.path + "\" is not absolute")
        .with_remedy("name a file on tundishd's machine, beginning with /");
  }
  if (call.is_dry_run()) {
    return make_error(Code::unsupported, "a backup cannot be tried out")
        .with_remedy("ask without dry_run");
  }
  return asked;
}

}  // namespace

Result<Answer> get_history(Backend& b, const Call& call) {
  HistoryQuery query;
  query.after = TRY(read_number(call, "after", 0));
  query.before = TRY(read_number(call, "before", 0));
  query.limit = static_cast<int>(
      std::clamp<std::int64_t>(TRY(read_number(call, "limit", 1000)), 1, largest_page));
  query.object = call.query("object");
  TRY_VOID(check_object(query.object));
  query.newest_first = TRY(read_order(call));
  const auto words = words_for(b.reg(), query.object);
  const auto entries = TRY(words.size() > 1 ? find_entries(b, query, words)
                                            : b.parts.store.history(query));
  std::vector<AnyDescribed> objects;
  objects.reserve(entries.size());
  for (const auto& entry : entries) objects.push_back(describe_const(entry));
  Answer answer{200, render_json_list(objects)};
  // Goes into `after`, or into `before` when the newest come first.
  if (static_cast<int>(entries.size()) == query.limit) {
    answer.headers["x-next-page"] = std::to_string(entries.back().sequence);
  }
  return answer;
}

void verify_history(Backend& b, const Call&, Respond respond) {
  const auto report = std::make_shared<Result<VerifyReport>>();
  const auto work = [&b, report] { *report = b.parts.store.verify_history(); };
  const auto started = run_long(b, work, [report, respond] {
    if (!*report) return respond(report->error());
    HistoryVerdict verdict;
    verdict.intact = (*report)->intact;
    verdict.entries = (*report)->entries;
    verdict.fault = (*report)->fault;
    verdict.last_hash = (*report)->last_hash;
    respond(Answer{200, render_json(verdict)});
  });
  if (!started) respond(started.error());
}

void post_backup(Backend& b, const Call& call, Respond respond) {
  const auto asked = plan_backup(call);
  if (!asked) return respond(asked.error());
  const auto done = std::make_shared<Result<>>();
  const auto work = [&b, done, path = asked->path] { *done = b.parts.store.backup(path); };
  const auto started = run_long(b, work, [done, asked = *asked, respond] {
    if (!*done) return respond(done->error());
    respond(Answer{200, render_json(asked)});
  });
  if (!started) respond(started.error());
}

}  // namespace tundish::edge::api

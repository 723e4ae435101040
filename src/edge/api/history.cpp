#include <algorithm>

#include "base/text.hpp"
#include "edge/api/handlers.hpp"

namespace tundish::edge::api {
namespace {

constexpr std::int64_t largest_page = 10000;

Result<std::int64_t> read_number(const Call& call, const std::string& name, std::int64_t start) {
  const std::string text = call.query(name);
  if (text.empty()) return start;
  const auto number = parse_integer(text);
  if (number && *number >= 0) return *number;
  return make_error(Code::invalid, name + " \"" + text + "\" is no number from 0");
}

}  // namespace

Result<Answer> get_history(Backend& b, const Call& call) {
  HistoryQuery query;
  query.after = TRY(read_number(call, "after", 0));
  query.limit = static_cast<int>(
      std::clamp<std::int64_t>(TRY(read_number(call, "limit", 1000)), 1, largest_page));
  query.object = call.query("object");
  query.newest_first = call.query("newest_first") == "true";
  const auto entries = TRY(b.parts.store.history(query));
  std::vector<AnyDescribed> objects;
  objects.reserve(entries.size());
  for (const auto& entry : entries) objects.push_back(describe_const(entry));
  return Answer{200, render_json_list(objects)};
}

Result<Answer> verify_history(Backend& b, const Call&) {
  const VerifyReport report = TRY(b.parts.store.verify_history());
  HistoryVerdict verdict;
  verdict.intact = report.intact;
  verdict.entries = report.entries;
  verdict.fault = report.fault;
  verdict.last_hash = report.last_hash;
  return Answer{200, render_json(verdict)};
}

Result<Answer> post_backup(Backend& b, const Call& call) {
  const BackupRequest asked = TRY(parse_body<BackupRequest>(call));
  if (!asked.path.starts_with("/")) {
    return make_error(Code::invalid, "backup path \"" + asked.path + "\" is not absolute")
        .with_remedy("name a file on tundishd's machine, beginning with /");
  }
  TRY_VOID(b.parts.store.backup(asked.path));
  return Answer{200, render_json(asked)};
}

}  // namespace tundish::edge::api

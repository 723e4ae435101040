// Source: fio(1) of fio 3.33, JSON OUTPUT; checked 2026-11
#include "base/text.hpp"
#include "codec/json.hpp"
#include "codec/tools/tool_output.hpp"

namespace tundish::tools {

Result<std::vector<FioJob>> parse_fio(std::string_view text) {
  const std::size_t begin = text.find('{');
  const std::size_t end = text.rfind('}');
  if (text.size() > most_output || begin == std::string_view::npos || end <= begin) {
    return make_error(Code::corrupt, "no JSON: " + std::string(trim(text.substr(0, 200))));
  }
  const auto root = TRY(JsonValue::parse(text.substr(begin, end - begin + 1)));
  std::vector<FioJob> out;
  for (const auto& item : root.at("jobs").items()) {
    FioJob job;
    job.name = item.at("jobname").as_text().value_or("");
    const auto error = item.at("error").as_integer();
    const auto read = item.at("read").at("bw_bytes").as_real();
    const auto write = item.at("write").at("bw_bytes").as_real();
    const auto read_bytes = item.at("read").at("io_bytes").as_real();
    const auto write_bytes = item.at("write").at("io_bytes").as_real();
    for (const auto& value : {read, write, read_bytes, write_bytes}) {
      if (!value || *value < 0 || *value > 9e15) {
        return make_error(Code::corrupt, "job " + job.name + " has no rates");
      }
    }
    if (!error) return make_error(Code::corrupt, "job " + job.name + " tells no error number");
    job.error = static_cast<int>(*error);
    job.read_bytes_per_s = static_cast<std::int64_t>(*read);
    job.write_bytes_per_s = static_cast<std::int64_t>(*write);
    job.read_bytes = static_cast<std::int64_t>(*read_bytes);
    job.write_bytes = static_cast<std::int64_t>(*write_bytes);
    out.push_back(std::move(job));
    if (out.size() > 256) return make_error(Code::corrupt, "too many jobs");
  }
  if (out.empty()) return make_error(Code::corrupt, "no job is in it");
  return out;
}

}  // namespace tundish::tools

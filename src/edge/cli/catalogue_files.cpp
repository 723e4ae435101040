#include "edge/cli/catalogue_files.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "codec/kernel_log/catalogue.hpp"
#include "codec/limits.hpp"
#include "codec/utf8.hpp"

namespace tundish::edge::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_file = 1 << 20;

bool has_catalogue(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "xid.yaml", ignored);
}

}  // namespace

Result<std::string> read_bytes(const std::string& name, std::size_t most) {
  std::error_code failed;
  std::ifstream in(name, std::ios::binary);
  std::string text(most + 1, '\0');
  // A folder opens like a file, and a device need not end: no more than asked for is read.
  const bool folder = fs::is_directory(name, failed);
  if (in && !folder) in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (folder || in.bad() || (!in && !in.eof())) {
    return make_error(Code::not_found, name + " cannot be read")
        .with_remedy("name a file that is there and that you may read");
  }
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > most) {
    return make_error(Code::invalid, name + " is larger than such a file can be")
        .with_remedy("at most " + std::to_string(most >> 10) + " KiB are taken");
  }
  return text;
}

Result<std::string> read_small_file(const std::string& name) {
  std::string text = TRY(read_bytes(name, largest_file));
  // What is sent as JSON would be changed silently.
  if (const auto at = find_invalid_utf8(text)) {
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<long>(*at), '\n');
    return make_error(Code::invalid, name + ":" + std::to_string(line) + ": not UTF-8")
        .with_remedy("save the file as UTF-8");
  }
  return text;
}

Result<std::string> find_catalogue(const Context& context, const CatalogueAsk& ask) {
  if (!ask.asked.empty()) return ask.asked;
  std::error_code ignored;
  if (!ask.beside.empty()) {
    const auto file = fs::absolute(ask.beside, ignored);
    for (auto at = file.parent_path(); at.has_relative_path(); at = at.parent_path()) {
      if (has_catalogue(at)) return at.string();
      if (has_catalogue(at / "catalog")) return (at / "catalog").string();
    }
  }
  if (has_catalogue(context.catalog_dir)) return context.catalog_dir;
  return make_error(Code::not_found, "no catalogue is near " +
                                         (ask.beside.empty() ? "" : ask.beside + " or ") +
                                         "this program: looked for " + context.catalog_dir +
                                         "/xid.yaml")
      .with_remedy("say where xid.yaml, sxid.yaml, thresholds.yaml and nameplates.yaml are: "
                   "--catalog DIR");
}

Result<LimitFiles> load_limit_files(const Context& context, const std::string& folder) {
  LimitFiles out;
  const std::string plates_file = folder + "/nameplates.yaml";
  const std::string limits_file = folder + "/thresholds.yaml";
  const std::string plates_text = TRY(read_small_file(plates_file));
  const std::string limits_text = TRY(read_small_file(limits_file));
  out.plates = TRY(load_nameplates(plates_text, plates_file));
  out.limits = TRY(load_thresholds(limits_text, limits_file, out.plates));
  TRY_VOID(check_limit_names(limits_text, limits_file, out.limits, context.known_limits));
  return out;
}

Result<XidCatalogue> load_codes(const std::string& folder) {
  const std::string xid = TRY(read_small_file(folder + "/xid.yaml"));
  const std::string sxid = TRY(read_small_file(folder + "/sxid.yaml"));
  return load_xid_catalogue({xid, folder + "/xid.yaml"}, {sxid, folder + "/sxid.yaml"});
}

}  // namespace tundish::edge::cli

#include "edge/cli/evidence.hpp"

#include <filesystem>
#include <fstream>
#include <optional>
#include <ostream>

#include "edge/api/contract.hpp"

namespace tundish::edge::cli {
namespace {

/// Beside the file: it is there before tundishd records what was handed out, and a bundle that
/// could not be written leaves an older one alone.
class FreshFile {
 public:
  explicit FreshFile(const std::string& name) : name_(name), fresh_(name + ".new") {
    std::error_code ignored;
    if (!std::filesystem::is_directory(name, ignored)) {
      out_.open(fresh_, std::ios::binary | std::ios::trunc);
    }
  }
  ~FreshFile() {
    std::error_code ignored;
    if (out_.is_open()) std::filesystem::remove(fresh_, ignored);
  }
  FreshFile(const FreshFile&) = delete;
  FreshFile& operator=(const FreshFile&) = delete;

  bool is_open() const { return out_.is_open(); }
  bool keep(const std::string& text) {
    std::error_code failed;
    out_ << text;
    out_.close();
    if (out_) std::filesystem::rename(fresh_, name_, failed);
    return out_ && !failed;
  }

 private:
  std::string name_, fresh_;
  std::ofstream out_;
};

}  // namespace

Result<int> save_bundle(Context& context, const BundleArgs& args) {
  std::optional<FreshFile> file;
  if (!context.settings().dry_run) file.emplace(args.file);
  if (file && !file->is_open()) {
    return make_error(Code::invalid,
                      "cannot write " + args.file + "; no bundle was made, nothing was recorded")
        .with_remedy("name a file in a folder that you may write to");
  }
  ReasonRequest request;
  request.reason = context.settings().reason;
  const auto body = TRY(context.change(
      {"POST", api_path({"incidents", args.incident, "bundle"}), render_json(request)}));
  if (!body) return exit_done;
  const auto bundle = TRY(parse_object<BundleAnswer>(*body));
  if (!file || !file->keep(bundle.text)) {
    return make_error(Code::unavailable, "cannot write all of " + args.file +
                                             ", and the record of " + args.incident +
                                             " has its sha256 now")
        .with_remedy("ask again, into a file that can be written: that bundle is the valid one");
  }
  if (context.form() == OutputForm::table) {
    context.out() << bundle.sha256 << "  " << args.file << "\n";
    return exit_done;
  }
  return show_object<BundleAnswer>(context, *body);
}

}  // namespace tundish::edge::cli

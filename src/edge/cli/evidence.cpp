#include "edge/cli/evidence.hpp"

#include <fstream>
#include <ostream>

#include "edge/api/contract.hpp"

namespace tundish::edge::cli {

Result<int> save_bundle(Context& context, const BundleArgs& args) {
  ReasonRequest request;
  request.reason = context.settings().reason;
  const auto body = TRY(context.change(
      {"POST", api_path({"incidents", args.incident, "bundle"}), render_json(request)}));
  if (!body) return exit_done;
  const auto bundle = TRY(parse_object<BundleAnswer>(*body));
  std::ofstream file(args.file, std::ios::binary | std::ios::trunc);
  file << bundle.text;
  file.close();
  if (!file) {
    return make_error(Code::unavailable, "cannot write " + args.file)
        .with_remedy("name a file that can be written");
  }
  if (context.form() == OutputForm::table) {
    context.out() << bundle.sha256 << "  " << args.file << "\n";
    return exit_done;
  }
  return show_object<BundleAnswer>(context, *body);
}

}  // namespace tundish::edge::cli

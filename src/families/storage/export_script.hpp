#pragma once
// A storage whose exports a script of its own makes: `storage-export` over ssh. What the script
// must do is its contract (docs/networks.md, Storage); the one of the lab is
// lab/storage_script.hpp, an operator's may stand in front of any server that knows its clients by
// address and key.
#include "ports/drivers.hpp"
#include "ports/exec.hpp"

namespace tundish::families {

/// What `list`, `sessions` and `hostkey` print. A line that is not understood is refused: who
/// cannot read the grants must not say that one is gone.
Result<StorageSeen> parse_exports(std::string_view text);

class ExportScriptStorage final : public StorageDriver {
 public:
  explicit ExportScriptStorage(Exec& exec) : exec_(exec) {}
  void apply(const StorageRef& ref, const StorageChange& change, Duration limit,
             Done done) override;
  void read(const StorageRef& ref, Duration limit, ReadDone done) override;

 private:
  void run(const StorageRef& ref, std::string script, Duration limit, ReadDone done);

  Exec& exec_;
};

}  // namespace tundish::families

#include "model/operation.hpp"

namespace tundish {
namespace {

class NamedOperation final : public Operation {
 public:
  NamedOperation(std::string_view name, std::string object, std::function<Result<>(Txn&)> perform)
      : name_(name), object_(std::move(object)), perform_(std::move(perform)) {}
  std::string_view name() const override { return name_; }
  std::string object() const override { return object_; }
  Result<> perform(Txn& txn) const override { return perform_(txn); }

 private:
  std::string_view name_;
  std::string object_;
  std::function<Result<>(Txn&)> perform_;
};

}  // namespace

OperationPtr make_operation(std::string_view name, std::string object,
                            std::function<Result<>(Txn&)> perform) {
  return std::make_unique<NamedOperation>(name, std::move(object), std::move(perform));
}

}  // namespace tundish

#include <algorithm>

#include "base/quote.hpp"
#include "base/text.hpp"
#include "codec/reference.hpp"
#include "edge/api/kinds.hpp"
#include "model/network.hpp"

namespace tundish::edge::api {
namespace {

constexpr std::int64_t default_page = 1000;
constexpr std::int64_t largest_page = 10000;

Result<std::int64_t> read_limit(const Call& call) {
  const std::string text = call.query("limit");
  if (text.empty()) return default_page;
  const auto limit = parse_integer(text);
  if (limit && *limit >= 1 && *limit <= largest_page) return *limit;
  return make_error(Code::invalid, "limit " + in_quotes(text) + " is not a number from 1 to " +
                                       std::to_string(largest_page));
}

/// State that a list shows: what a watch starts from so that it misses nothing.
std::map<std::string, std::string> revision_header(const Registry& view) {
  return {{"x-revision", std::to_string(view.revision())}};
}

/// Ids are kind and revision: incident-402 is older than incident-1022.
bool is_before(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

/// From the oldest to the newest, those after `page`.
template <class T>
std::vector<std::pair<std::string, const T*>> in_order(const Registry& view,
                                                       const std::string& page) {
  std::vector<std::pair<std::string, const T*>> out;
  for (const auto& [id, object] : view.all<T>()) {
    if (page.empty() || is_before(page, id.str())) out.emplace_back(id.str(), &object);
  }
  std::sort(out.begin(), out.end(),
            [](const auto& a, const auto& b) { return is_before(a.first, b.first); });
  return out;
}

template <class T>
Result<Answer> list_objects(Backend& b, const Call& call) {
  const std::int64_t limit = TRY(read_limit(call));
  Answer answer;
  answer.headers = revision_header(b.reg());
  answer.body = "[";
  std::string last;
  std::int64_t count = 0;
  for (const auto& [id, object] : in_order<T>(b.reg(), call.query("page"))) {
    const std::optional<T> shown = shape_now(b, call.who, *object);
    if (!shown) continue;
    if (count == limit) {
      answer.headers["x-next-page"] = last;
      break;
    }
    if (count++ > 0) answer.body += ',';
    answer.body += render_json(*shown);
    last = id;
  }
  answer.body += "]";
  return answer;
}

template <class T>
Result<Answer> get_object_by_name(Backend& b, const Call& call) {
  const T object = TRY((get_visible<T>(b, call, call.parts.at(0))));
  Answer answer = show(b, call.who, object);
  answer.headers = revision_header(b.reg());
  return answer;
}

template <class T>
const T* value_of(const ObjectBase& object) {
  const auto* holder = dynamic_cast<const Holder<T>*>(&object);
  return holder ? &holder->value : nullptr;
}

template <class T>
std::optional<std::string> render_change(const Registry& view, const Identity& who,
                                         const ObjectBase& object) {
  const T* value = value_of<T>(object);
  if (!value) return std::nullopt;
  const std::optional<T> shown = shape(view, who, *value);
  if (!shown) return std::nullopt;
  return render_json(*shown);
}

template <class T>
std::optional<TenantId> owner_of_change(const Registry& view, const ObjectBase& object) {
  const T* value = value_of<T>(object);
  return value ? owner_of(view, *value) : std::nullopt;
}

template <class T>
void each_owner(const Registry& view, const SeeOwner& see) {
  for (const auto& [id, object] : view.all<T>()) see(id.str(), owner_of(view, object));
}

template <class T>
std::string schema_of_kind() {
  T scratch;
  return render_openapi_schema(scratch);
}

template <class T>
std::vector<std::string> ids_named(const Registry& view, const std::string& name) {
  std::vector<std::string> out;
  for (const auto& [id, object] : view.all<T>()) {
    if (object.meta.name == name) out.push_back(id.str());
  }
  return out;
}

template <class T>
constexpr Kind make_kind(std::string_view plural) {
  return {plural,           T::kind,
          list_objects<T>,  get_object_by_name<T>,
          render_change<T>, owner_of_change<T>,
          each_owner<T>,    schema_of_kind<T>,
          ids_named<T>};
}

constexpr Kind kinds[] = {
    make_kind<Node>("nodes"),
    make_kind<Rack>("racks"),
    make_kind<Site>("sites"),
    make_kind<Switch>("switches"),
    make_kind<Sku>("skus"),
    make_kind<Cable>("cables"),
    make_kind<Fabric>("fabrics"),
    make_kind<Network>("networks"),
    make_kind<Tenant>("tenants"),
    make_kind<User>("users"),
    make_kind<Token>("tokens"),
    make_kind<Secret>("secrets"),
    make_kind<Cluster>("clusters"),
    make_kind<Allocation>("allocations"),
    make_kind<Claim>("claims"),
    make_kind<Incident>("incidents"),
    make_kind<Proposal>("proposals"),
    make_kind<Hold>("holds"),
    make_kind<Authority>("authorities"),
    make_kind<PoolEntry>("pool_entries"),
    make_kind<Maintenance>("maintenances"),
    make_kind<Notice>("notices"),
    make_kind<NodeReport>("node_reports"),
    make_kind<Rma>("rmas"),
};

}  // namespace

std::span<const Kind> all_kinds() { return kinds; }

const Kind* find_kind(std::string_view name) {
  for (const auto& kind : kinds) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

}  // namespace tundish::edge::api

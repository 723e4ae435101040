// How fast the embedded store takes commits and gives its objects back: store_bench [FOLDER].
// The folder decides: on a tmpfs a synchronised write costs nothing.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>

#include "base/check.hpp"
#include "model/operation.hpp"
#include "runtime/store_sqlite/sqlite_store.hpp"

namespace tundish {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// A node as an agent reports it: eight GPUs, ten ports.
Node make_node(std::int64_t revision) {
  Node node;
  node.id = NodeId("node-" + std::to_string(revision));
  node.meta.name = "n" + std::to_string(revision);
  node.meta.revision = revision;
  node.spec.rack = "r" + std::to_string(revision / 18);
  for (int i = 0; i < 10; ++i) {
    node.spec.ports.push_back({"eth" + std::to_string(i), PortRole::east_west,
                               "02:00:00:00:00:0" + std::to_string(i), "leaf-1", "swp1", i});
  }
  for (int i = 0; i < 8; ++i) {
    ObservedGpu gpu;
    gpu.index = i;
    gpu.uuid = "GPU-8f6c4f0e-3d0c-4b52-9a7e-00000000000" + std::to_string(i);
    gpu.model = "NVIDIA H200";
    gpu.pci = "0000:1" + std::to_string(i) + ":00.0";
    node.status.hardware.gpus.push_back(gpu);
  }
  return node;
}

/// One operation of the ledger: a node and its line of history.
void add_operation(Batch& batch, std::int64_t revision) {
  auto body = std::make_shared<Holder<Node>>(make_node(revision));
  HistoryEntry entry;
  entry.revision = revision;
  entry.at = Instant{revision};
  entry.actor = "controller:node";
  entry.operation = "record_hardware";
  entry.object = "node/" + body->value.meta.name;
  entry.outcome = "done";
  batch.changes.push_back({"node", body->id(), revision, std::move(body)});
  batch.history.push_back(std::move(entry));
}

void measure_commits(SqliteStore& store, int batch_size, int commits) {
  std::int64_t revision = store.head().revision;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < commits; ++i) {
    Batch batch;
    for (int j = 0; j < batch_size; ++j) add_operation(batch, ++revision);
    const auto done = store.commit(batch);
    check(done.has_value(), "a commit of the benchmark must succeed");
  }
  const double took = seconds_since(start);
  std::printf("batch %3d: %8.0f commits/s %8.0f operations/s\n", batch_size, commits / took,
              commits * batch_size / took);
}

void measure_load(const std::string& path, int nodes) {
  auto store = SqliteStore::open(path);
  check(store.has_value(), "the store of the benchmark must open");
  Batch batch;
  for (int i = 1; i <= nodes; ++i) add_operation(batch, i);
  const auto write = std::chrono::steady_clock::now();
  check((*store)->commit(batch).has_value(), "a commit of the benchmark must succeed");
  std::printf("commit of %d nodes at once: %.3f s\n", nodes, seconds_since(write));
  store->reset();

  const auto start = std::chrono::steady_clock::now();
  store = SqliteStore::open(path);
  check(store.has_value(), "the store of the benchmark must open again");
  Registry registry;
  const auto loaded = (*store)->load([&](const ObjectBase& object) -> Result<> {
    registry.adopt(object);
    return {};
  });
  check(loaded.has_value(), "the store of the benchmark must load");
  std::printf("open and load %zu nodes into the registry: %.3f s\n", registry.all<Node>().size(),
              seconds_since(start));
  const auto verify = std::chrono::steady_clock::now();
  check((*store)->verify_history()->intact, "its history must be intact");
  std::printf("verify %d entries: %.3f s\n", nodes, seconds_since(verify));
}

}  // namespace
}  // namespace tundish

int main(int count, char** arguments) {
  namespace fs = std::filesystem;
  const fs::path base = count > 1 ? fs::path(arguments[1]) : fs::temp_directory_path();
  const fs::path folder = base / "tundish-store-bench";
  fs::remove_all(folder);
  fs::create_directories(folder);
  {
    auto store = tundish::SqliteStore::open((folder / "commits.db").string());
    tundish::check(store.has_value(), "the store of the benchmark must open");
    tundish::measure_commits(**store, 1, 500);
    tundish::measure_commits(**store, 10, 200);
    tundish::measure_commits(**store, 100, 50);
  }
  tundish::measure_load((folder / "load.db").string(), 10000);
  fs::remove_all(folder);
  return 0;
}

#include "../../../tests/sims/nvlink.hpp"

#include <gmock/gmock.h>

#include "families/fabrics/fabric_samples_test.hpp"

namespace tundish::fabrics {
namespace {

const FabricItem& item() { return *find_fabric_item("nvlink"); }
const FabricOwnership ours;

std::string gpu(int number) { return "GPU-0000000" + std::to_string(number % 10); }
std::string address(int number) { return "10.0.0." + std::to_string(number % 10); }

/// Ten GPUs on ten nodes, dealt to four partitions and to nobody.
FabricState random_state(RandomState& random) {
  FabricState out;
  for (int id = 1; id <= 4; ++id) {
    NvlinkPartitionState partition;
    partition.partition_id = id;
    partition.name = "t0000" + std::to_string(id);
    out.nvlink.push_back(std::move(partition));
  }
  for (int i = 0; i < 10; ++i) {
    const auto owner = static_cast<std::size_t>(random.below(5));
    if (owner == 4) continue;
    out.nvlink[owner].gpus.push_back(gpu(i));
    out.nvlink[owner].imex_nodes.push_back(address(i));
  }
  const int gone = random.below(5);
  if (gone < 4) out.nvlink.erase(out.nvlink.begin() + gone);
  return out;
}

TEST(Nvlink, a_domain_follows_and_never_joins_two_tenants) {
  RandomState random(8);
  sims::NvlinkDomain domain;
  domain.partitions[32766] = {"Default Partition", {}};
  FabricState now;
  for (int i = 0; i < 300; ++i) {
    const FabricState next = random_state(random);
    const auto steps = item().steps(now, next);
    ASSERT_TRUE(steps);
    for (const auto& step : *steps) {
      ASSERT_EQ(domain.run(step.call, step.text), "") << step.what;
      std::set<std::string> trusted;  // a node trusts one tenant's nodes at a time
      for (const auto& [name, nodes] : domain.imex) {
        for (const auto& node : nodes) ASSERT_TRUE(trusted.insert(node).second) << step.what;
      }
    }
    const auto seen = item().parse(domain.show(), ours);
    ASSERT_TRUE(seen);
    ASSERT_EQ(seen->own, next);
    for (const auto& a : next.nvlink) {
      for (const auto& b : next.nvlink) {
        if (&a == &b || a.gpus.empty() || b.gpus.empty()) continue;
        ASSERT_FALSE(domain.linked(a.gpus[0], b.gpus[0]));
      }
    }
    now = next;
  }
}

TEST(Nvlink, reads_back_what_it_renders) {
  RandomState random(9);
  const std::string foreign =
      R"({"partitions": [{"name": "Default Partition", "partition_id": 32766, "gpus": ["GPU-x"]},
          {"name": "t00009", "partition_id": 9, "gpus": ["GPU-b", "GPU-a"]}],
          "imex": {"t00009": ["10.0.0.9"], "theirs": ["10.1.0.1"]}, "domain": "d1"})";
  for (int i = 0; i < 100; ++i) {
    const FabricState x = random_state(random);
    for (const auto& before : {std::string(), foreign}) {
      const auto text = item().render(x, before, ours);
      ASSERT_TRUE(text) << text.error().message();
      EXPECT_EQ(item().parse(*text, ours)->own, x);
      if (before.empty()) continue;
      EXPECT_THAT(*text, ::testing::HasSubstr("10.1.0.1"));
    }
  }
  EXPECT_EQ(item().parse(foreign, ours)->own.nvlink.at(0).gpus.front(), "GPU-a");
}

TEST(Nvlink, refuses_bad_input) {
  const auto refused = [](auto change) {
    FabricState x;
    x.nvlink = {{"t00001", 1, {"GPU-a"}, {"10.0.0.1"}}, {"t00002", 2, {"GPU-b"}, {"10.0.0.2"}}};
    EXPECT_TRUE(item().accept(x));
    change(x.nvlink[1]);
    const auto made = item().accept(x);
    return !made && !made.error().remedy.empty();
  };
  EXPECT_TRUE(refused([](NvlinkPartitionState& p) { p.gpus = {"GPU-a"}; }));
  EXPECT_TRUE(refused([](NvlinkPartitionState& p) { p.imex_nodes = {"10.0.0.1"}; }));
  EXPECT_TRUE(refused([](NvlinkPartitionState& p) { p.partition_id = 32766; }));
  EXPECT_TRUE(refused([](NvlinkPartitionState& p) { p.partition_id = 1; }));
  EXPECT_TRUE(refused([](NvlinkPartitionState& p) { p.name = "t1"; }));
  EXPECT_TRUE(refused([](NvlinkPartitionState& p) { p.gpus = {"GPU-b\n"}; }));
  EXPECT_TRUE(refused([](NvlinkPartitionState& p) { p.imex_nodes = {"10.0.0.2\n10.0.0.3"}; }));
}

TEST(Nvlink, golden_steps) {
  FabricState x, y;
  x.nvlink = {{"t00001", 1, {"GPU-a", "GPU-b"}, {"10.0.0.1", "10.0.0.2"}}};
  y.nvlink = {{"t00001", 1, {"GPU-a"}, {"10.0.0.1"}}, {"t00002", 2, {"GPU-b"}, {"10.0.0.2"}}};
  expect_golden("nvlink_create.steps", render_steps(*item().steps({}, x)));
  expect_golden("nvlink_move.steps", render_steps(*item().steps(x, y)));
  expect_golden("nvlink_delete.steps", render_steps(*item().steps(y, {})));
  expect_golden("nvlink_list.json", *item().render(y, "", ours));
}

}  // namespace
}  // namespace tundish::fabrics

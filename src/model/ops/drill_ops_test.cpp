#include "model/ops/drill_ops.hpp"

#include <gtest/gtest.h>

#include "model/ops/blame_ops.hpp"
#include "model/ops/incident_ops.hpp"
#include "model/ops/node_ops.hpp"

namespace tundish {
namespace {

class Drills : public testing::Test {
 protected:
  Drills() {
    for (const int code : {48, 79}) {
      catalogue_.xid.entries.push_back({});
      catalogue_.xid.entries.back().code = code;
      catalogue_.xid.entries.back().action = FaultAction::reset;
    }
    must(admit_node("n1", {}));
  }
  void must(const OperationPtr& operation) {
    now_ = now_ + seconds(1);
    Txn txn(registry_, now_, "test");
    const auto done = operation->perform(txn);
    ASSERT_TRUE(done) << done.error().message();
  }
  NodeId node() { return registry_.find_named<Node>("n1")->id; }
  void announce(const std::string& what, const std::string& fault, const std::string& device) {
    must(announce_drill(node(), {what + " on gpu 0 injected by ann at noon", fault, device}));
  }
  std::size_t marks() { return registry_.find(node())->status.conditions.size(); }
  void line(int code, const std::string& device, Provenance provenance = Provenance::kernel) {
    Witness out;
    out.source = "kmsg";
    out.boot_id = "boot";
    out.seq = ++seq_;
    out.id = "boot/kmsg/" + std::to_string(seq_);
    out.provenance = provenance;
    out.event.kind = KernelEventKind::xid;
    out.event.code = code;
    out.event.device = device;
    must(record_witnesses(node(), {out}, catalogue_));
  }
  void blamed(Resource part, const std::string& device, Duration ago = {}) {
    BlamedOrder order;
    order.blame.part = part;
    order.blame.object = "n1";
    order.blame.evidence.push_back({now_ - ago, "n1", part, "a check", "it says so", 50});
    order.fault = "symptom";
    order.node = node();
    order.affected = {node()};
    order.device = device;
    must(open_blamed(order));
  }
  /// The newest one.
  const Incident& incident() {
    const Incident* out = nullptr;
    for (const auto& [id, one] : registry_.all<Incident>()) {
      if (!out || out->opened_at < one.opened_at) out = &one;
    }
    return *out;
  }
  void close() { must(close_incident(incident().id)); }

  Registry registry_;
  XidCatalogue catalogue_;
  Instant now_{1'700'000'000'000'000};
  std::int64_t seq_ = 0;
};

TEST_F(Drills, only_what_was_ordered_is_a_drill) {
  announce("xid 79", "xid 79", "0000:3b:00");
  line(79, "0000:5e:00");
  EXPECT_FALSE(incident().drill) << "another GPU";
  close();
  line(48, "0000:3b:00");
  EXPECT_FALSE(incident().drill) << "another fault";
  close();
  EXPECT_EQ(marks(), 1u);
  line(79, "0000:3b:00");
  EXPECT_TRUE(incident().drill);
  EXPECT_EQ(marks(), 0u);
  close();
  line(79, "0000:3b:00");
  EXPECT_FALSE(incident().drill) << "it was used up";
}

TEST_F(Drills, a_witness_that_falls_into_an_open_incident_uses_its_mark_up) {
  line(48, "0000:3b:00");
  announce("xid 79", "xid 79", "0000:3b:00");
  line(79, "0000:3b:00");
  EXPECT_FALSE(incident().drill) << "it is a real one with a drill in it";
  EXPECT_EQ(marks(), 0u);
  close();
  line(79, "0000:3b:00");
  EXPECT_FALSE(incident().drill);
}

TEST_F(Drills, two_that_are_under_way_are_told_apart) {
  announce("xid 79", "xid 79", "0000:3b:00");
  announce("xid 48", "xid 48", "0000:5e:00");
  EXPECT_EQ(marks(), 2u);
  line(48, "0000:5e:00");
  EXPECT_EQ(marks(), 1u);
  line(79, "0000:3b:00");
  EXPECT_EQ(marks(), 0u);
  EXPECT_TRUE(incident().drill) << "both were ordered";
}

TEST_F(Drills, a_fault_of_another_gpu_makes_a_drills_incident_real) {
  announce("xid 79", "xid 79", "0000:3b:00");
  line(79, "0000:3b:00");
  line(48, "0000:3b:00");
  EXPECT_TRUE(incident().drill) << "what is broken on purpose has more than one word for it";
  line(48, "0000:5e:00", Provenance::userspace);
  EXPECT_TRUE(incident().drill) << "anybody can write that";
  close();
  announce("xid 79", "xid 79", "0000:3b:00");
  line(79, "0000:3b:00");
  line(48, "0000:5e:00");
  EXPECT_FALSE(incident().drill);
}

TEST_F(Drills, what_a_check_sees_is_matched_by_part_and_age) {
  announce("throttle", "", "0000:3b:00");
  blamed(Resource::disk, "");
  EXPECT_FALSE(incident().drill) << "no part of a GPU";
  close();
  blamed(Resource::gpu, "0000:5e:00");
  EXPECT_FALSE(incident().drill) << "another GPU";
  close();
  blamed(Resource::gpu, "0000:3b:00", minutes(1));
  EXPECT_FALSE(incident().drill) << "it was there before";
  close();
  blamed(Resource::thermal, "0000:3b:00");
  EXPECT_TRUE(incident().drill);
  close();
  announce("cpu_hog", "", "");
  blamed(Resource::gpu, "0000:3b:00");
  EXPECT_FALSE(incident().drill);
  close();
  blamed(Resource::cpu, "");
  EXPECT_TRUE(incident().drill);
  close();
  announce("ib_port_down", "", "0000:3b:00");
  blamed(Resource::link, "mlx5_0");
  EXPECT_TRUE(incident().drill) << "the GPU that an order names by default says nothing of a port";
}

TEST_F(Drills, what_the_checks_of_a_report_find_is_matched_as_well) {
  announce("throttle", "", "0000:3b:00");
  Verdict slow;
  slow.check = "gpu_work";
  slow.state = VerdictState::fail;
  slow.reason = "half of its peers";
  slow.watches = Resource::gpu;
  slow.device = "0000:3b:00";
  slow.at = now_;
  must(open_probe_incident(node(), {slow}));
  EXPECT_TRUE(incident().drill);
  EXPECT_EQ(marks(), 0u);
  close();
  must(open_probe_incident(node(), {slow}));
  EXPECT_FALSE(incident().drill) << "it was used up";
}

TEST_F(Drills, they_are_taken_back_and_end_each_by_itself) {
  announce("xid 79", "xid 79", "0000:3b:00");
  const Instant first = now_;
  announce("xid 48", "xid 48", "0000:5e:00");
  must(end_drills(node(), first));
  ASSERT_EQ(marks(), 1u);
  EXPECT_NE(registry_.find(node())->status.conditions.front().reason.find("xid 48 of 0000:5e:00"),
            std::string::npos);
  must(withdraw_drill(node(),
                      {"xid 48 on gpu 0 injected by ann at noon", "xid 48", "0000:5e:00"}));
  EXPECT_EQ(marks(), 0u);
}

}  // namespace
}  // namespace tundish

#include "model/gpu_fault.hpp"

namespace tundish {

bool is_gpu_fault(const KernelEvent& event) {
  switch (event.kind) {
    case KernelEventKind::xid:
    case KernelEventKind::sxid:
    case KernelEventKind::fallen_off_bus:
    case KernelEventKind::amd_fault:
    case KernelEventKind::other_gpu: return true;
    case KernelEventKind::oom:
    case KernelEventKind::hung_task:
    case KernelEventKind::soft_lockup:
    case KernelEventKind::io_error:
    case KernelEventKind::hard_lockup:
    case KernelEventKind::rcu_stall:
    case KernelEventKind::kernel_oops:
    case KernelEventKind::server_silent:
    case KernelEventKind::server_back:
    case KernelEventKind::client_evicted:
    case KernelEventKind::memory_error:
    case KernelEventKind::pcie_error:
    case KernelEventKind::nic_fault:
    case KernelEventKind::link_down:
    case KernelEventKind::link_up:
    case KernelEventKind::gpu_identity: return false;
  }
  return false;
}

}  // namespace tundish

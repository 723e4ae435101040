#pragma once
// The part of NVML's C interface that we call, declared here because the driver's nvml.h is not
// free to ship. Names inside are ours; layouts and numbers are NVIDIA's.
// Source of every layout and number below unless said otherwise: nvml.h of the driver, API 11
// (github.com/NVIDIA/go-nvml, gen/nvml/nvml.h) and, for field 230, fabric and field values, API 12
// as quoted by open programs that call it; checked 2026. Not yet compared with a real driver by
// running: the assertions at the end hold our reading of it in place.
#include <cstdint>

namespace tundish::nvml {

/// nvmlReturn_t.
enum Return : int {
  success = 0,
  uninitialized = 1,
  invalid_argument = 2,
  not_supported = 3,
  not_found = 6,
  insufficient_size = 7,
  driver_not_loaded = 9,
  timed_out = 10,
  corrupted_inforom = 14,
  gpu_is_lost = 15,  ///< fallen off the bus or otherwise inaccessible
  reset_required = 16,
  unknown_error = 999
};

/// nvmlDevice_t: opaque.
using Device = void*;
/// nvmlEventSet_t: opaque.
using EventSet = void*;

constexpr unsigned short_text = 96;  ///< NVML_DEVICE_NAME_V2_BUFFER_SIZE, ..._UUID_V2_BUFFER_SIZE

constexpr int temperature_of_gpu = 0;        ///< NVML_TEMPERATURE_GPU
constexpr int error_corrected = 0;           ///< NVML_MEMORY_ERROR_TYPE_CORRECTED
constexpr int error_uncorrected = 1;         ///< NVML_MEMORY_ERROR_TYPE_UNCORRECTED
constexpr int since_reset = 0;               ///< NVML_VOLATILE_ECC: since the driver loaded
constexpr int since_made = 1;                ///< NVML_AGGREGATE_ECC: kept in the InfoROM
constexpr int enabled = 1;                   ///< NVML_FEATURE_ENABLED
constexpr unsigned fabric_completed = 3;     ///< NVML_GPU_FABRIC_STATE_COMPLETED
constexpr unsigned long long event_xid = 8;  ///< nvmlEventTypeXidCriticalError

/// NVML_FI_DEV_GET_GPU_RECOVERY_ACTION: 0 none, 1 reset, 2 reboot, 3 drain P2P, 4 drain and reset.
constexpr unsigned field_recovery_action = 230;
constexpr unsigned field_nvlink_flit_crc = 38;     ///< NVML_FI_DEV_NVLINK_CRC_FLIT_..._TOTAL
constexpr unsigned field_nvlink_data_crc = 45;     ///< NVML_FI_DEV_NVLINK_CRC_DATA_..._TOTAL
constexpr unsigned field_nvlink_replay = 52;       ///< NVML_FI_DEV_NVLINK_REPLAY_..._TOTAL
constexpr unsigned field_nvlink_recovery = 59;     ///< NVML_FI_DEV_NVLINK_RECOVERY_..._TOTAL
constexpr unsigned field_memory_temperature = 82;  ///< NVML_FI_DEV_MEMORY_TEMP
constexpr int threshold_slowdown = 1;              ///< NVML_TEMPERATURE_THRESHOLD_SLOWDOWN
constexpr int clock_sm = 1;                        ///< NVML_CLOCK_SM
constexpr int page_single_bit = 0;    ///< NVML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS
constexpr int page_double_bit = 1;    ///< NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR
constexpr int value_is_unsigned = 1;  ///< NVML_VALUE_TYPE_UNSIGNED_INT

/// nvmlPciInfo_t, version 3.
struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pci_device_id;  ///< device id * 65536 + vendor id
  unsigned pci_subsystem_id;
  char bus_id[32];  ///< "%08X:%02X:%02X.0"
};

/// nvmlMemory_t, bytes.
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

/// nvmlUtilization_t, percent.
struct Utilization {
  unsigned gpu;
  unsigned memory;
};

/// nvmlProcessInfo_t, version 3.
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance;
  unsigned compute_instance;
};

/// nvmlEventData_t.
struct EventData {
  Device device;
  unsigned long long type;
  unsigned long long data;  ///< the XID, for event_xid
  unsigned gpu_instance;
  unsigned compute_instance;
};

/// nvmlValue_t.
union Value {
  double as_double;
  unsigned as_unsigned;
  unsigned long long as_unsigned_long_long;
};

/// nvmlFieldValue_t.
struct FieldValue {
  unsigned field;
  unsigned scope;
  long long timestamp_us;
  long long latency_us;
  int value_type;
  Return result;
  Value value;
};

/// nvmlGpuFabricInfoV_t, version 2.
struct FabricInfo {
  unsigned version;
  unsigned char cluster_uuid[16];
  Return status;
  unsigned clique;
  unsigned char state;
  unsigned health_mask;
};

static_assert(sizeof(PciInfo) == 68 && sizeof(Memory) == 24 && sizeof(ProcessInfo) == 24);
static_assert(sizeof(EventData) == 32 && sizeof(FieldValue) == 40 && sizeof(FabricInfo) == 36);

}  // namespace tundish::nvml

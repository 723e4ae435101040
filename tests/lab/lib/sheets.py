"""Writes the inventory sheets of a lab: sheets.py FOLDER SITE NODES RACKS LOGINS FABRIC TRAYS.

Follows src/lab/topology.cpp (hardware_of).
"""
import csv
import sys

folder, site, nodes, racks, logins = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
frr = sys.argv[6] == "frr"
trays = int(sys.argv[7]) if len(sys.argv) > 7 else 0
services, service_ports = 1, 8


def mac(group, port, index):
    return f"02:4c:{group:02x}:00:{port:02x}:{index:02x}"


def write(name, header, rows):
    with open(f"{folder}/{name}.csv", "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(header.split(","))
        out.writerows(rows)


devices, interfaces, cables = [], [], []
next_port = {rack: 1 for rack in range(1, racks + 1)}
unit = {rack: 1 for rack in range(1, racks + 1)}
per_rack = (nodes + racks - 1) // racks
all_nodes = [(f"n{i:02d}", "gpu", (i - 1) // per_rack + 1, 1) for i in range(1, nodes + 1)]
all_nodes += [(f"svc{i:02d}", "service", 1, service_ports) for i in range(1, services + 1)]
all_nodes += [(f"login{i:02d}", "login", 1, 1) for i in range(1, logins + 1)]
for index, (name, role, rack, ports) in enumerate(all_nodes, 1):
    sku = "hgx-h100" if role == "gpu" else ""
    devices.append([name, role, "Tundish", sku, f"TND24-{index:05d}", "active", site,
                    f"r{rack:02d}", unit[rack], "front", mac(0xB0, 0, index), f"10.88.1.{index}:8000",
                    f"10.88.0.{10 + index}", f"leaf{rack}", "", "",
                    "nvl1" if role == "gpu" and index <= trays else ""])
    unit[rack] += 6 if role == "gpu" else 1
    interfaces.append([name, "oob0", "1000base-t", 1000000, "", "oob", mac(0x0B, 0, index), ""])
    if role == "gpu" and frr:
        interfaces.append([name, "mlx5_0", "infiniband-ndr", 400000000, "", "east_west", "",
                           f"0x{0x0002C90301000000 + index * 256 + 1:016x}"])
    for k in range(ports):
        interfaces.append([name, f"eth{k}", "25gbase-x-sfp28", 25000000, "access", "access",
                           mac(0xE0, k, index), ""])
        cables.append([site, name, "dcim.interface", f"eth{k}", site, f"leaf{rack}",
                       "dcim.interface", f"swp{next_port[rack]}", "cat6", "connected"])
        next_port[rack] += 1
for rack in range(1, racks + 1):
    devices.append([f"leaf{rack}", "leaf", "Tundish", "", "", "active", site, f"r{rack:02d}", 60,
                    "rear", "", "", "", "",
                    f"ssh://root@10.88.2.{rack}" if frr else f"http://10.88.2.{rack}:8080",
                    "frr_netns" if frr else "flat", ""])
    for port in range(1, next_port[rack]):
        interfaces.append([f"leaf{rack}", f"swp{port}", "25gbase-x-sfp28", 25000000, "access", "", ""])
write("racks", "site,name,u_height", [[site, f"r{rack:02d}", 60] for rack in range(1, racks + 1)])
write("skus", "name,gpu_model,gres_type,gpus,nics,cpus,sockets,memory_mib",
      [["hgx-h100", "NVIDIA H100 80GB HBM3", "h100", 8, 1 if frr else 8, 8, 1, 2000]])
write("devices", "name,role,manufacturer,device_type,serial,status,site,rack,position,face,bmc_mac,"
      "bmc_address,oob_address,leaf_group,management_url,driver,nvlink_domain", devices)
write("interfaces", "device,name,type,speed,mode,role,mac_address,guid", interfaces)
write("cables", "side_a_site,side_a_device,side_a_type,side_a_name,side_b_site,side_b_device,"
      "side_b_type,side_b_name,type,status", cables)

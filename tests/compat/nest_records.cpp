/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints what nest-sionlib-reader finds in a file of NEST's SIONlib backend. applications.py compiles it with our
 * library and with SIONlib. */
#include <cinttypes>
#include <cstdio>

#include "nest_reader.h"

int main(int argc, char **argv) {
    if (argc != 2) {
        return 2;
    }
    NestReader reader(argv[1]);
    std::printf("NEST %s, %g to %g ms, resolution %g ms\n", reader.get_nest_version().c_str(),
                reader.get_start(), reader.get_end(), reader.get_resolution());
    for (uint64_t id : reader.list_devices()) {
        DeviceData &device = reader.get_device_data(id);
        size_t size = device.rows * 8 * (3 + device.double_n_val + device.long_n_val);
        const unsigned char *raw = reinterpret_cast<unsigned char *>(device.get_raw());
        uint64_t sum = 1;
        for (size_t i = 0; i < size; i++) {
            sum = 31 * sum + raw[i];
        }
        std::printf("device %" PRIu64 ", %s: %zu records of %zu and %zu values, %016" PRIx64 "\n", id,
                    device.name.c_str(), device.rows, device.double_n_val, device.long_n_val, sum);
    }
    return 0;
}

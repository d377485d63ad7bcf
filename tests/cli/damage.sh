#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# verify names the damage: in a dataset by checksums, in a single file by its structure.
link=linktest/pingpong_results_bin.sion
refuse() {
    "$HPCGEN" verify "$@" && echo "accepted: $*"
}
fresh() {
    rm -rf set
    cp -r whole set
}
put() { # FILE OFFSET BYTES
    printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
"$HPCGEN" --ranks 8 --formats linktest,sion --out whole --quiet || exit

fresh; put set/sion/particles.sion.000002 30000 '\377'; refuse set
fresh; truncate -s -1 set/$link; refuse set
fresh; rm set/sion/particles.sion.000003; refuse set; refuse set/sion/particles.sion
fresh; put set/truth.json 100 '#'; refuse set
fresh; rm set/manifest.json; refuse set
fresh; : >set/CHECKSUMS.xxh128; refuse set

fresh; put set/$link 0 'noin'; refuse set/$link
fresh; put set/$link 24 '\377\377\377\177'; refuse set/$link # number of tasks
fresh; put set/$link 20 '\0\0\0\0'; refuse set/$link         # block size
fresh; truncate -s 100 set/$link; refuse set/$link
fresh; : >set/$link; refuse set/$link
fresh; put set/$link 4104 '\377'; refuse set/$link # LinkTest's version, not the container's
"$HPCGEN" verify whole

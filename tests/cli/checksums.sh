#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every preset and every scenario gives the bytes recorded in checksums.stdout, so that no change of the code
# changes datasets by accident. There is one line per dataset: preset, scenario, MD5 of its CHECKSUMS.xxh128. The
# dataset `default default` is larger and has the default parameters. A format that is not in $first has a dataset
# of its own, so that it changes no other line.
set -e
# Releases of brotli write different bytes.
if [ "$BROTLI_VERSION" != 1.0.9 ]; then
    echo "the checksums were recorded with brotli 1.0.9, this is $BROTLI_VERSION" >&2
    exit 77
fi
first=clog2,linktest,rank2file,sion,vom
formats=$first
# Usage: dataset PRESET SCENARIO OPTION...
dataset() {
    line="$1 $2"
    shift 2
    "$HPCGEN" --formats "$formats" "$@" --out set --quiet
    echo "$line $(md5sum <set/CHECKSUMS.xxh128 | cut -d ' ' -f 1)"
    rm -r set
}

for preset in dfplus-hdr200 dragonfly-ss11 fattree-hdr100 dfplus-ndr200 torus-tofud tcp-1g; do
    dataset $preset none --ranks 256 --scale small --preset $preset --set load.scenario=none
done
for scenario in spike ramp hotspot; do
    dataset dfplus-hdr200 $scenario --ranks 256 --scale small --set load.scenario=$scenario
done
dataset default mesh --ranks 64 --scale small --set load.comm=mesh
dataset default default --ranks 512
for format in $("$HPCGEN" list --json | sed -n '/"formats"/,/}/s/^ *"\([a-z0-9_]*\)": ".*/\1/p'); do
    formats=$format
    case ,$first, in
    *,$format,*) ;;
    *) dataset default $format --ranks 256 --scale small ;;
    esac
done

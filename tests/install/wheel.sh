#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs the Python package by pip as doc/python.md says, without network, and uses it there. Usage:
# wheel.sh SOURCE_ROOT CC
set -eu
source=$1
export CC="$2"
python=$(command -v /usr/bin/python3 || command -v python3)

for module in mesonpy numpy venv ensurepip; do
    "$python" -c "import $module" 2>/dev/null || { echo "skipped: expected the Python package $module, got none"; exit 77; }
done
command -v patchelf >/dev/null || { echo "skipped: expected patchelf, got none"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset PYTHONPATH HPCW_LIBRARY HPCW_HPCGEN

# pip builds in the source tree, so it gets a copy.
if git -C "$source" rev-parse >/dev/null 2>&1; then
    mkdir "$scratch/source"
    (cd "$source" && git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$scratch/source")
else
    cp -r "$source" "$scratch/source"
fi
cd "$scratch"
"$python" -m venv --system-site-packages v
# Unoptimised, since only the installed files matter here, not their speed.
v/bin/pip install --no-index --no-build-isolation --disable-pip-version-check --config-settings=setup-args=-Doptimization=0 \
    ./source >log 2>&1 || { cat log; exit 1; }
v/bin/python -c '
import sys
import hpcw
from hpcw import _library, program
run = hpcw.generate("synth", ranks=16, seed=1, show=False)
assert hpcw.verify(run)["ok"] and len(run.log.states()) > 0
for path in (hpcw.__file__, _library.library()._name, program.hpcgen()):
    assert path.startswith(sys.prefix), path
print(hpcw.__version__, run)'

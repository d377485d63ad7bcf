#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs into a scratch prefix, then compiles, links and runs programs that know nothing of this tree but its
# pkg-config files. Usage: outside.sh SOURCE_ROOT CC [MPIEXEC MPICC]
# shellcheck disable=SC2046 # pkg-config prints several words
set -eu
source=$1 compiler=$2 mpiexec=${3-} mpicc=${4-mpicc}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix

echo "== install"
mpi=disabled
[ -z "$mpiexec" ] || mpi=enabled
# Unoptimised, because only what is installed matters here, not its speed.
install() {
    CC=$compiler meson setup "$scratch/build" "$source" --prefix="$prefix" --libdir=lib --buildtype=debug \
        -Dmpi=$mpi -Dmpicc="$mpicc" -Dtests=disabled -Dbench=enabled -Ddefault_library=both &&
        meson install -C "$scratch/build"
}
install >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }

PKG_CONFIG_PATH=$prefix/lib/pkgconfig
LD_LIBRARY_PATH=$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
PATH=$prefix/bin:$PATH
export PKG_CONFIG_PATH LD_LIBRARY_PATH PATH

version=$("$source/tests/version.sh")
# Every program below must get what is installed, not what is in the tree.
cd "$scratch"
cp "$prefix"/share/doc/hpcw/examples/* .

echo "== version"
for module in hpcw ${mpiexec:+hpcw-mpi}; do
    got=$(pkg-config --modversion "$module")
    [ "$got" = "$version" ] || { echo "$module.pc says version $got, the header $version"; exit 1; }
done

echo "== serial, shared"
$compiler two_tasks.c -o shared $(pkg-config --cflags --libs hpcw)
./shared
hpcgen verify two_tasks.sion
mv two_tasks.sion shared.sion

echo "== serial, static"
mkdir static-only
cp "$prefix"/lib/*.a static-only
$compiler two_tasks.c -o static $(pkg-config --cflags hpcw) -Lstatic-only \
    $(pkg-config --static --libs-only-l --libs-only-other hpcw)
if ldd ./static | grep hpcw; then
    echo "the static program wants a shared libhpcw"
    exit 1
fi
./static
cmp two_tasks.sion shared.sion

if [ -n "$mpiexec" ]; then
    echo "== MPI"
    make -s CC="$mpicc" # as examples/README.md says
    "$mpiexec" -n 2 ./pingpong outside.sion 10 64
    hpcgen verify outside.sion
    "$mpiexec" -n 2 ./heat heat_out 40 2
    for file in heat.clog2 links.sion plate.sion lb_data ckpt; do
        hpcgen verify "heat_out/$file"
    done

    echo "== the wrapper, preloaded and linked"
    "$mpiexec" -n 2 env LD_PRELOAD="$(pkg-config --variable=trace_library hpcw-mpi)" ./heat_plain 40 2
    hpcgen verify heat_plain.clog2
    $compiler heat_plain.c heat_solver.c -o linked -L"$prefix/lib" -lhpcw_trace \
        $(pkg-config --cflags --libs hpcw-mpi) -lm
    "$mpiexec" -n 2 ./linked 40 2
    hpcgen verify linked.clog2
fi

echo "== manual pages, completions, schema"
for file in share/man/man1/hpcgen.1 share/man/man1/hpcw-bench.1 share/bash-completion/completions/hpcgen \
    share/bash-completion/completions/hpcw-bench share/zsh/site-functions/_hpcw-bench \
    share/fish/vendor_completions.d/hpcw-bench.fish share/hpcw/results.schema.json; do
    [ -s "$prefix/$file" ] || { echo "not installed: $file"; exit 1; }
done

# All that is under version control, and nothing else; without that, in an unpacked archive, all that is there.
echo "== documents"
(cd "$source" && { git ls-files LICENSE README.md doc examples 2>/dev/null ||
    find LICENSE README.md doc examples -type f; }) |
    grep -v -e '^doc/Doxyfile' -e '^doc/doxygen' -e 'meson\.build$' | LC_ALL=C sort >expected
(cd "$prefix/share/doc/hpcw" && find . -type f | sed 's|^\./||') | LC_ALL=C sort >installed
diff -u expected installed || { echo "the documents in doc/meson.build are not those of the tree"; exit 1; }

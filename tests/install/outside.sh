#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs into a scratch prefix, then compiles, links and runs programs that know nothing of this tree but its
# pkg-config files. Usage: outside.sh SOURCE_ROOT CC [MPIEXEC MPICC [FC [MPIFORT]]]
# If HPCW_PREFIX is set, packages have already installed everything there.
# shellcheck disable=SC2046 # pkg-config prints several words
set -eu
source=$1 compiler=$2 mpiexec=${3-} mpicc=${4-mpicc} fc=${5-} mpifort=${6-}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=${HPCW_PREFIX-$scratch/prefix}
# Libraries go where the distribution has them: on Debian, in lib/TRIPLET.
lib=lib/$($compiler -print-multiarch 2>/dev/null || true)
libdir=$prefix/$lib

mpi=disabled
[ -z "$mpiexec" ] || mpi=enabled
fortran=disabled
[ -z "$fc" ] || fortran=enabled
# Unoptimised, since only the installed files matter here, not their speed.
install() {
    CC=$compiler meson setup "$scratch/build" "$source" --prefix="$prefix" --libdir="$lib" --buildtype=debug \
        -Dmpi=$mpi -Dmpicc="$mpicc" -Dfortran=$fortran -Dtests=disabled -Dbench=enabled -Ddefault_library=both &&
        meson install -C "$scratch/build"
}
if [ -z "${HPCW_PREFIX-}" ]; then
    echo "== install"
    install >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
fi

PKG_CONFIG_PATH=$libdir/pkgconfig
LD_LIBRARY_PATH=$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
PATH=$prefix/bin:$PATH
export PKG_CONFIG_PATH LD_LIBRARY_PATH PATH

version=$("$source/tests/version.sh")
# Every program below must use the installed files, not those in the tree.
cd "$scratch"
cp "$prefix"/share/doc/hpcw/examples/* .

echo "== version"
for module in hpcw hpcw-sionlib ${mpiexec:+hpcw-mpi hpcw-mpe hpcw-sionlib-mpi} ${fc:+hpcw-fortran} ${mpifort:+hpcw-mpi-fortran}; do
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
cp "$libdir"/libhpcw*.a static-only
$compiler two_tasks.c -o static $(pkg-config --cflags hpcw) -Lstatic-only \
    $(pkg-config --static --libs-only-l --libs-only-other hpcw)
if ldd ./static | grep hpcw; then
    echo "the static program needs a shared libhpcw"
    exit 1
fi
./static
cmp two_tasks.sion shared.sion
hpcgen --ranks 4 --formats linktest,vom,clog2 --out data --quiet
for row in slowest:linktest/pingpong_results_bin.sion imbalance:vom/data.0.json.br where_time_goes:clog2/app.clog2; do
    reader=${row%:*} file=data/${row#*:}
    $compiler "$reader.c" -o "$reader.shared" $(pkg-config --cflags --libs hpcw)
    $compiler "$reader.c" -o "$reader.static" $(pkg-config --cflags hpcw) -Lstatic-only \
        $(pkg-config --static --libs-only-l --libs-only-other hpcw)
    ! ldd "./$reader.static" | grep hpcw || { echo "the static program needs a shared libhpcw"; exit 1; }
    "./$reader.shared" "$file" >expected
    [ -s expected ]
    "./$reader.static" "$file" | diff expected -
done

echo "== Python"
python=$(command -v /usr/bin/python3 || command -v python3)
site=$(find "$prefix" -type d -path '*-packages/hpcw' | head -n 1)
[ -z "$site" ] || ! "$python" -c 'import numpy' 2>/dev/null ||
    env -u LD_LIBRARY_PATH -u HPCW_LIBRARY -u HPCW_HPCGEN PYTHONPATH="${site%/hpcw}" PYTHONDONTWRITEBYTECODE=1 "$python" -c '
import sys
import hpcw
from hpcw import _library, program
assert hpcw.verify("data")["ok"] and len(hpcw.open("data").log.states()) > 0
for path in (hpcw.__file__, _library.library()._name, program.hpcgen()):
    assert path.startswith(sys.argv[1]), path' "$prefix"

if [ -n "$mpiexec" ]; then
    echo "== MPI"
    make -s CC="$mpicc" # as examples/README.md says
    "$mpiexec" -n 2 ./pingpong outside.sion 10 64
    hpcgen verify outside.sion
    "$mpiexec" -n 2 hpcw-linktest --oversubscribe --quiet --output installed.sion
    hpcgen verify installed.sion
    "$mpiexec" -n 3 ./read_tasks two_tasks.sion | sort >tasks
    [ "$(cat tasks)" = "$(printf 'task 0: 24 bytes, sum 718\ntask 1: 24 bytes, sum 1029')" ] || { cat tasks; exit 1; }
    "$mpiexec" -n 2 ./heat heat_out 40 2
    for file in heat.clog2 links.sion plate.sion lb_data ckpt; do
        hpcgen verify "heat_out/$file"
    done

    echo "== the wrapper, preloaded and linked"
    "$mpiexec" -n 2 env LD_PRELOAD="$(pkg-config --variable=trace_library hpcw-mpi)" ./heat_plain 40 2
    hpcgen verify heat_plain.clog2
    "$mpiexec" -n 2 hpcw-trace --output by_command.clog2 ./heat_plain 40 2
    hpcgen verify by_command.clog2
    "$mpiexec" -n 2 hpcw-trace ./own_state
    hpcgen info own_state.clog2 | grep -q '^  Compute ' || { echo "the log lacks the program's state"; exit 1; }
    $compiler heat_plain.c heat_solver.c -o linked -L"$libdir" -lhpcw_trace \
        $(pkg-config --cflags --libs hpcw-mpi) -lm
    "$mpiexec" -n 2 ./linked 40 2
    hpcgen verify linked.clog2

    echo "== MPE2's names"
    $compiler "$source/tests/compat/mpe/names.c" -o names $(pkg-config --cflags --libs hpcw-mpe) -lpthread
    "$mpiexec" -n 2 ./names
    hpcgen verify names.clog2
fi

if [ -n "$fc" ]; then
    echo "== Fortran, shared and static"
    $fc two_tasks.f90 -o fortran_shared $(pkg-config --cflags --libs hpcw-fortran)
    ./fortran_shared
    cmp two_tasks.sion shared.sion
    $fc two_tasks.f90 -o fortran_static $(pkg-config --cflags hpcw-fortran) -Lstatic-only \
        $(pkg-config --static --libs-only-l --libs-only-other hpcw-fortran)
    if ldd ./fortran_static | grep hpcw; then
        echo "the static program wants a shared libhpcw"
        exit 1
    fi
    ./fortran_static
    cmp two_tasks.sion shared.sion
fi
if [ -n "$mpifort" ]; then
    echo "== Fortran, MPI"
    make -s fortran FC="$mpifort" # as examples/README.md says
    "$mpiexec" -n 2 ./heat_fortran heat_fortran_out 40 2
    cmp heat_fortran_out/plate.sion heat_out/plate.sion
    "$mpiexec" -n 2 env LD_PRELOAD="$(pkg-config --variable=trace_library hpcw-mpi)" ./heat_plain_fortran 40 2
    hpcgen verify heat_plain_fortran.clog2
fi

# Usage: sionlib KIND SOURCE COMPILER...: a program written for SIONlib prints the same as in the tree, linked
# dynamically, statically, and with the options of sionconfig.
sionlib() {
    kind=$1 program=$2
    shift 2
    module=hpcw-sionlib
    [ "$kind" = ser ] || module=hpcw-sionlib-$kind
    mkdir "sionlib-$kind"
    "$@" "$source/tests/compat/$program" -o "sionlib-$kind/shared" $(pkg-config --cflags --libs "$module")
    "$@" "$source/tests/compat/$program" -o "sionlib-$kind/static" $(pkg-config --cflags "$module") -Lstatic-only \
        $(pkg-config --static --libs-only-l --libs-only-other "$module")
    "$@" $(sionconfig "--$kind" --cflags) "$source/tests/compat/$program" -o "sionlib-$kind/asked" \
        $(sionconfig "--$kind" --libs)
    for linked in shared static asked; do
        case $kind in
        *mpi) (cd "sionlib-$kind" && "$mpiexec" -n 4 ./$linked) ;;
        *) (cd "sionlib-$kind" && ./$linked) ;;
        esac >sionlib.out
        diff "$source/tests/compat/sionlib_$kind.stdout" sionlib.out
    done
}
echo "== SIONlib's names"
sionlib ser sionlib_serial.c $compiler
if pkg-config --exists hpcw-sionlib-omp; then
    sionlib omp sionlib_omp.c $compiler -fopenmp
fi
if [ -n "$mpiexec" ]; then
    sionlib mpi sionlib_mpi.c "$mpicc"
fi
if pkg-config --exists hpcw-sionlib-ompi; then
    sionlib ompi sionlib_omp.c "$mpicc" -fopenmp -DWITH_MPI
fi

echo "== the calls of sionconfig by others"
# Usage: answers EXPECTED WORDS...: sionconfig WORDS prints EXPECTED and ends with status 0.
answers() {
    expected=$1
    shift
    got=$(sionconfig "$@") || { echo "sionconfig $* fails"; exit 1; }
    [ "$got" = "$expected" ] || { echo "sionconfig $*: expected $expected, got $got"; exit 1; }
}
cflags="-I$prefix/include/hpcw-sionlib -D_SION_LINUX"
answers "$cflags" --be --gen --threadsafe --cflags # Score-P, OTF2
answers "-L$libdir -lhpcw_sionlib -lhpcw" --be --gen --threadsafe --64 --libs
answers "$cflags -L$libdir -lhpcw_sionlib -lhpcw" --ser --cflags --libs
answers "SIONlib Version 1.7.6, by hpcw $version" --version # NEST
answers "$prefix" --path
for api in ser omp mpi ompi; do
    ls "$libdir/libhpcw_sionlib_$api.so" >/dev/null 2>&1 || [ $api = ser ] || continue
    for language in c cxx; do # FTI, PDI: they add a word that nobody knows
        case $(sionconfig --$api --$language --cflags --foobar) in
        "$cflags" | "$cflags -DSION_MPI" | "$cflags -DSION_OMP" | "$cflags -DSION_OMPI") ;;
        *) echo "sionconfig --$api --$language --cflags: $(sionconfig --$api --$language --cflags)"; exit 1 ;;
        esac
        [ -n "$(sionconfig --$api --$language --gcc --libs)" ]
    done
done
for refused in "--ser --f90 --libs" "--32 --libs" --mpi ""; do
    # shellcheck disable=SC2086 # several words
    ! sionconfig $refused >refused.out 2>refused.err || { echo "sionconfig $refused does not fail"; exit 1; }
    [ ! -s refused.out ] && [ -s refused.err ] || { echo "sionconfig $refused says nothing on stderr"; exit 1; }
done

if [ -z "${HPCW_PREFIX-}" ]; then
    echo "== the build directory"
    mkdir uninstalled
    PKG_CONFIG_PATH=$scratch/build/meson-uninstalled
    $compiler two_tasks.c -o uninstalled/two_tasks $(pkg-config --cflags --libs hpcw)
    (cd uninstalled && LD_LIBRARY_PATH=$scratch/build/libreader ./two_tasks && cmp two_tasks.sion ../shared.sion)
    if [ -n "$fc" ]; then
        (cd uninstalled && $fc ../two_tasks.f90 -o two_tasks_fortran $(pkg-config --cflags --libs hpcw-fortran) &&
            LD_LIBRARY_PATH=$scratch/build/libreader:$scratch/build/bindings/fortran ./two_tasks_fortran &&
            cmp two_tasks.sion ../shared.sion)
    fi
    $compiler "$source/tests/compat/sionlib_serial.c" -o uninstalled/sionlib $(pkg-config --cflags --libs hpcw-sionlib)
    (cd uninstalled && LD_LIBRARY_PATH=$scratch/build/libreader:$scratch/build/bindings/sionlib ./sionlib >sionlib.out &&
        diff "$source/tests/compat/sionlib_ser.stdout" sionlib.out)
    asked=$scratch/build/bindings/sionlib/sionconfig
    $compiler $("$asked" --ser --cflags) "$source/tests/compat/sionlib_serial.c" -o uninstalled/asked $("$asked" --ser --libs)
    (cd uninstalled && LD_LIBRARY_PATH=$scratch/build/libreader:$scratch/build/bindings/sionlib ./asked >sionlib.out &&
        diff "$source/tests/compat/sionlib_ser.stdout" sionlib.out)
    if [ -n "$mpiexec" ]; then
        $compiler heat_plain.c heat_solver.c -o uninstalled/heat_plain $(pkg-config --cflags --libs hpcw-mpi) -lm
        (cd uninstalled && "$mpiexec" -n 2 env LD_PRELOAD="$(pkg-config --variable=trace_library hpcw-mpi)" \
            LD_LIBRARY_PATH="$scratch/build/libreader" ./heat_plain 40 2 && hpcgen verify heat_plain.clog2)
    fi
    PKG_CONFIG_PATH=$libdir/pkgconfig
fi

if command -v cmake >/dev/null; then
    echo "== CMake"
    mkdir with_cmake
    cp two_tasks.c heat_plain.c heat_solver.c heat_solver.h links.c links.h pingpong.c with_cmake
    cat >with_cmake/CMakeLists.txt <<EOF
cmake_minimum_required(VERSION 3.16)
project(outside C)
find_package(hpcw $version REQUIRED ${mpiexec:+COMPONENTS mpi})
add_executable(two_tasks two_tasks.c)
target_link_libraries(two_tasks hpcw::hpcw)
if(hpcw_mpi_FOUND)
  add_executable(pingpong pingpong.c links.c)
  target_link_libraries(pingpong hpcw::hpcw-mpi)
  file(WRITE "\${CMAKE_BINARY_DIR}/trace_library" "\${hpcw_TRACE_LIBRARY}")
endif()
EOF
    CC=$compiler cmake -S with_cmake -B with_cmake/build -DCMAKE_PREFIX_PATH="$prefix" >cmake.log &&
        cmake --build with_cmake/build >>cmake.log || { cat cmake.log; exit 1; }
    (cd with_cmake && ./build/two_tasks && cmp two_tasks.sion ../shared.sion)
    if [ -n "$mpiexec" ]; then
        "$mpiexec" -n 2 with_cmake/build/pingpong cmake.sion 10 64
        hpcgen verify cmake.sion
        [ "$(cat with_cmake/build/trace_library)" = "$(pkg-config --variable=trace_library hpcw-mpi)" ] ||
            { echo "CMake and pkg-config have different wrappers"; exit 1; }
    fi
    if [ -n "$fc" ]; then
        mkdir cmake_fortran
        cp ./*.f90 cmake_fortran
        cat >cmake_fortran/CMakeLists.txt <<EOF
cmake_minimum_required(VERSION 3.16)
project(outside Fortran)
find_package(hpcw $version REQUIRED COMPONENTS fortran)
add_executable(two_tasks two_tasks.f90)
target_link_libraries(two_tasks hpcw::hpcw-fortran)
if(hpcw_mpi_FOUND)
  add_executable(heat links.f90 heat_agreement.f90 heat_solver.f90 heat_log.f90 heat_loads.f90 heat_files.f90 heat.f90)
  target_link_libraries(heat hpcw::hpcw-mpi-fortran)
endif()
EOF
        FC=${mpifort:-$fc} cmake -S cmake_fortran -B cmake_fortran/build -DCMAKE_PREFIX_PATH="$prefix" >cmake.log &&
            cmake --build cmake_fortran/build >>cmake.log || { cat cmake.log; exit 1; }
        (cd cmake_fortran && ./build/two_tasks && cmp two_tasks.sion ../shared.sion)
        if [ -n "$mpifort" ]; then
            "$mpiexec" -n 2 cmake_fortran/build/heat cmake_heat_out 40 2
            cmp cmake_heat_out/plate.sion heat_out/plate.sion
        fi
    fi
    for refused in 9 9.0 "$version COMPONENTS nowhere"; do
        sed "s/find_package.*/find_package(hpcw $refused REQUIRED)/" with_cmake/CMakeLists.txt >refused.txt
        mkdir -p refused && mv refused.txt refused/CMakeLists.txt
        ! CC=$compiler cmake -S refused -B refused/build -DCMAKE_PREFIX_PATH="$prefix" >cmake.log 2>&1 ||
            { echo "CMake found hpcw $refused"; exit 1; }
    done
fi

echo "== manual pages, completions, schema"
for file in share/man/man1/sionconfig.1 share/man/man1/hpcgen.1 share/man/man1/hpcw-bench.1 share/bash-completion/completions/hpcgen \
    share/bash-completion/completions/hpcw-bench share/zsh/site-functions/_hpcw-bench \
    share/fish/vendor_completions.d/hpcw-bench.fish share/hpcw/results.schema.json share/hpcw/workloads/wavefront.lua \
    ${mpiexec:+share/man/man1/hpcw-linktest.1 share/bash-completion/completions/hpcw-linktest \
        share/man/man1/hpcw-trace.1 share/bash-completion/completions/hpcw-trace share/zsh/site-functions/_hpcw-trace \
        share/fish/vendor_completions.d/hpcw-trace.fish share/zsh/site-functions/_hpcw-linktest share/fish/vendor_completions.d/hpcw-linktest.fish}; do
    [ -s "$prefix/$file" ] || [ -s "$prefix/$file.gz" ] || { echo "not installed: $file"; exit 1; }
done

# Exactly the documents that git tracks are installed. An unpacked archive has no git repository, so all of its
# documents count.
echo "== documents"
(cd "$source" && { git ls-files LICENSE README.md doc examples 2>/dev/null ||
    find LICENSE README.md doc examples -type f; }) |
    grep -v -e '^doc/Doxyfile' -e '^doc/doxygen' -e 'meson\.build$' | LC_ALL=C sort >expected
(cd "$prefix/share/doc/hpcw" && find . -path ./reference -prune -o -type f -print | sed 's|^\./||') | LC_ALL=C sort >installed
diff -u expected installed || { echo "the documents in doc/meson.build are not those of the tree"; exit 1; }

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds the serial library and hpcgen with other compilers and for other architectures. Compares their datasets,
# with all formats, with those of the ordinary build. Other processors are emulated. Needs a Debian with apt and,
# for missing packages, root. Libraries of other architectures are only unpacked, not installed.
# Usage: portability.sh SOURCE DIRECTORY [TARGET...]; targets: clang musl aarch64 s390x armhf
set -eu
source=$(realpath "$1")
mkdir -p "$2"
cd "$2"
directory=$(pwd)
shift 2
[ $# -gt 0 ] || set -- clang musl aarch64 s390x armhf

# Fetches the libraries that hpcgen needs, for one of Debian's architectures, into a root of their own.
# Usage: sysroot DEBIAN-ARCHITECTURE
sysroot() {
    root=$directory/root-$1
    [ ! -f "$root/complete" ] || return 0
    rm -rf "$root" apt
    mkdir -p "$root" apt/lists/partial apt/cache/archives/partial apt/packages
    # apt gets package lists of its own, since this machine's lists do not have the other architecture.
    set -- "$1" -o APT::Architecture="$1" -o APT::Architectures="$1" -o Dir::State="$directory/apt" \
        -o Dir::State::Lists="$directory/apt/lists" -o Dir::State::Status=/dev/null -o Dir::Cache="$directory/apt/cache" \
        -o APT::Sandbox::User=root
    architecture=$1
    shift
    apt-get "$@" update >apt.log 2>&1 || { cat apt.log; return 1; }
    (cd apt/packages && apt-get "$@" download libbrotli-dev libbrotli1 libdeflate-dev libdeflate0 libxxhash-dev libxxhash0 \
        libcjson-dev libcjson1 libinih-dev libinih1 libinireader0 liblua5.4-dev \
        liblua5.4-0) >apt.log 2>&1 || { cat apt.log; return 1; }
    for package in apt/packages/*.deb; do
        dpkg-deb -x "$package" "$root"
    done
    rm -rf apt apt.log
    echo "$architecture" >"$root/complete"
}

# Usage: build NAME OPTION-OF-MESON...
build() {
    name=$1
    shift
    [ -f "$name/build.ninja" ] ||
        meson setup "$name" "$source" --buildtype=release -Dmpi=disabled -Dtests=disabled -Dbench=disabled \
            -Dreport=disabled -Dotf2=disabled -Dfortran=disabled "$@" >"$name.log" 2>&1 || { cat "$name.log"; return 1; }
    ninja -C "$name" gen/hpcgen >"$name.log" 2>&1 || { cat "$name.log"; return 1; }
}

# Builds with musl on this machine. Debian has hpcgen's libraries only for glibc. They also run with musl, if they are in a
# directory without glibc, and if glibc's functions for checks at run time are added.
musl() {
    mkdir -p musl-root/include musl-root/lib
    for header in brotli libdeflate.h xxhash.h cjson ini.h lua5.4; do
        ln -sfn "/usr/include/$header" "musl-root/include/$header"
    done
    ln -sfn "/usr/include/$($cc -print-multiarch)/lua5.4-deb-multiarch.h" musl-root/include/
    for library in brotlienc brotlidec brotlicommon deflate inih xxhash cjson lua5.4; do
        ln -sf "$($cc -print-file-name="lib$library.so")" musl-root/lib/
        for file in "$(dirname "$($cc -print-file-name="lib$library.so")")/lib$library".so.*; do
            ln -sf "$file" musl-root/lib/
        done
    done
    cat >musl-root/glibc.c <<EOF
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
void *__memcpy_chk(void *to, const void *from, size_t n, size_t room) { (void)room; return memcpy(to, from, n); }
void *__memset_chk(void *to, int c, size_t n, size_t room) { (void)room; return memset(to, c, n); }
int __sprintf_chk(char *to, int flag, size_t room, const char *fmt, ...) {
    va_list args;
    (void)flag;
    va_start(args, fmt);
    int n = vsnprintf(to, room, fmt, args);
    va_end(args);
    return n;
}
int __snprintf_chk(char *to, size_t size, int flag, size_t room, const char *fmt, ...) {
    va_list args;
    (void)flag;
    (void)room;
    va_start(args, fmt);
    int n = vsnprintf(to, size, fmt, args);
    va_end(args);
    return n;
}
int __fprintf_chk(FILE *to, int flag, const char *fmt, ...) {
    va_list args;
    (void)flag;
    va_start(args, fmt);
    int n = vfprintf(to, fmt, args);
    va_end(args);
    return n;
}
void __longjmp_chk(jmp_buf to, int value) { longjmp(to, value); }
EOF
    musl-gcc -shared -fPIC musl-root/glibc.c -o musl-root/glibc.so
    cat >musl.ini <<EOF
[binaries]
c = ['musl-gcc', '-isystem', '$directory/musl-root/include']
ar = 'ar'
pkgconfig = 'pkg-config'
[built-in options]
c_link_args = ['-L$directory/musl-root/lib']
[host_machine]
system = 'linux'
cpu_family = '$(uname -m)'
cpu = '$(uname -m)'
endian = 'little'
EOF
    build musl --cross-file musl.ini
    cat >musl/hpcgen <<EOF
#!/bin/sh
LD_LIBRARY_PATH='$directory/musl-root/lib' LD_PRELOAD='$directory/musl-root/glibc.so' exec '$directory/musl/gen/hpcgen' "\$@"
EOF
    chmod +x musl/hpcgen
}

# Usage: cross NAME DEBIAN-ARCHITECTURE FAMILY ENDIAN PREFIX-OF-TOOLS
cross() {
    sysroot "$2"
    cat >"$1.ini" <<EOF
[binaries]
c = ['$5-gcc', '-isystem', '$directory/root-$2/usr/include', '-isystem', '$directory/root-$2/usr/include/$5']
ar = '$5-ar'
strip = '$5-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['qemu-$1', '-L', '/usr/$5']
[built-in options]
c_link_args = ['-L$directory/root-$2/usr/lib/$5', '-Wl,-rpath-link,$directory/root-$2/usr/lib/$5']
[properties]
sys_root = '$directory/root-$2'
pkg_config_libdir = '$directory/root-$2/usr/lib/$5/pkgconfig'
[host_machine]
system = 'linux'
cpu_family = '$3'
cpu = '$3'
endian = '$4'
EOF
    build "$1" --cross-file "$1.ini"
}

# Writes a dataset with all formats. Usage: dataset NAME COMMAND...
dataset() {
    name=$1
    shift
    rm -rf "set-$name"
    "$@" --scale tiny --ranks 64 --seed 7 --set load.scenario=spike --out "set-$name" --quiet
    "$@" verify "set-$name" >/dev/null
}

# A processor with 32-bit addresses is refused.
refused() {
    printf "[binaries]\nc = 'arm-linux-gnueabihf-gcc'\n[host_machine]\nsystem = 'linux'\ncpu_family = 'arm'\ncpu = 'armv7'\nendian = 'little'\n" \
        >armhf.ini
    rm -rf armhf
    if meson setup armhf "$source" --cross-file armhf.ini >armhf.log 2>&1 || ! grep '64-bit addresses, got arm' armhf.log; then
        cat armhf.log
        return 1
    fi
}

packages=
for target; do
    case $target in
    clang) packages="$packages clang" ;;
    musl) packages="$packages musl-tools" ;;
    aarch64) packages="$packages gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user" ;;
    s390x) packages="$packages gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user" ;;
    armhf) packages="$packages gcc-arm-linux-gnueabihf libc6-dev-armhf-cross" ;;
    *) echo "expected clang, musl, aarch64, s390x or armhf, got $target"; exit 1 ;;
    esac
done
missing=$(for p in $packages; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || echo "$p"
done)
# shellcheck disable=SC2086 # one word per package
[ -z "$missing" ] || { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing; } \
    >packages.log 2>&1 || { cat packages.log; exit 1; }

cc=${CC:-cc}
build reference
dataset reference reference/gen/hpcgen
failed=0
for target; do
    case $target in
    clang)
        CC=clang build clang
        dataset clang clang/gen/hpcgen
        ;;
    musl)
        musl
        dataset musl musl/hpcgen
        ;;
    aarch64)
        cross aarch64 arm64 aarch64 little aarch64-linux-gnu
        dataset aarch64 qemu-aarch64 -L /usr/aarch64-linux-gnu \
            -E "LD_LIBRARY_PATH=$directory/root-arm64/usr/lib/aarch64-linux-gnu" aarch64/gen/hpcgen
        ;;
    s390x)
        cross s390x s390x s390x big s390x-linux-gnu
        dataset s390x qemu-s390x -L /usr/s390x-linux-gnu \
            -E "LD_LIBRARY_PATH=$directory/root-s390x/usr/lib/s390x-linux-gnu" s390x/gen/hpcgen
        ;;
    esac
    if [ "$target" = armhf ]; then
        refused || failed=1
        continue
    fi
    if diff set-reference/CHECKSUMS.xxh128 "set-$target/CHECKSUMS.xxh128" >"$target.diff"; then
        echo "$target: the same $(wc -l <set-reference/CHECKSUMS.xxh128) files as on $(uname -m) with cc"
    else
        echo "$target: other bytes than on $(uname -m) with cc:"
        cat "$target.diff"
        failed=1
    fi
done
exit $failed

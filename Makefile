# SPDX-License-Identifier: BSD-3-Clause
# The front door: installs what is missing, configures Meson, and runs it. Everything else is Meson's.
#
#   make synth   the dataset of 4096 ranks in synth/; a second call resumes
#   make check   the whole test suite
#   make bench-check measure with hpcw-bench on a machine that does nothing else, and check that it finds what is slow
#   make chaos   an hour of random kills, failures, full disks, damage and races, and a table of what survived
#   make crash   an hour of deaths, failures and power losses at every call that changes the file system, and a table
#   make fuzz    an hour of fuzzing of the readers, with clang, and minutes of altered inputs for the commands
#   make cluster run everything on four hosts, namespaces of this machine, and a distributed file system; as root, 10 minutes
#   make realism generate data of several seeds, compare their figures with doc/realism.md, and find their slow links
#   make portability build with clang and musl and for aarch64 and s390x, emulated, and compare the bytes; 10 minutes
#   make docs    the reference of the library, from the headers' comments, in build/docs/
#   make deb     Debian packages in build/packages/, checked, and tried in a fresh Debian (for that it must be root)
#   make setup   only packages and build/
#   make clean   removes build/, build-mpich/ and build-portability/; the dataset stays
#
# Variables: RANKS, SYNTH (the directory), ARGS (more options of hpcgen), SETTINGS (more options of `meson setup`, for a
# build/ that is not there yet), CHAOS_MINUTES, CHAOS_SEED (of its random numbers), CRASH_MINUTES, CRASH_SEED,
# FUZZ_SECONDS (of each target), HOSTILE_MINUTES (of the commands). HPCW_GOLDEN names the folder of the original tools' files for the tests.

BUILD = build
SYNTH = synth
RANKS = 4096
ARGS =
SETTINGS =
# `make SETUP=true` for those whose packages come from elsewhere.
SETUP = sh tests/setup.sh

ifneq ($(HPCW_GOLDEN),)
# Tests run in other directories.
export HPCW_GOLDEN := $(abspath $(HPCW_GOLDEN))
endif

synth: setup
	meson compile -C $(BUILD)
	$(BUILD)/gen/hpcgen --ranks $(RANKS) --out $(SYNTH)/ --resume $(ARGS)

# The times that tests may take are for a machine that has nothing else to do.
check: setup
	meson test -C $(BUILD) --print-errorlogs --timeout-multiplier 4

bench-check: setup
	meson compile -C $(BUILD)
	meson compile -C $(BUILD) bench-check

chaos: setup
	meson compile -C $(BUILD) chaos

crash: setup
	meson compile -C $(BUILD) crash

# All targets at the same time, on few cores.
fuzz: setup
	@$(SETUP) ci
	meson compile -C $(BUILD)
	python3 tests/hostile/replay.py $(BUILD)/gen/hpcgen $(BUILD)/bench/hpcw-bench --minutes $(or $(HOSTILE_MINUTES),10)
	FUZZ_SECONDS=$(or $(FUZZ_SECONDS),3600) .ci/run fuzz

# Only root can have the hosts, so only for root is anything more installed or built.
cluster: setup
	meson compile -C $(BUILD)
	@test "$$(id -u)" -ne 0 || $(SETUP) cluster
	@test "$$(id -u)" -ne 0 || test -f build-mpich/build.ninja || ! command -v mpicc.mpich >/dev/null || \
	    meson setup build-mpich --buildtype=release -Dmpicc=mpicc.mpich -Dtests=disabled
	@test ! -f build-mpich/build.ninja || meson compile -C build-mpich
	meson compile -C $(BUILD) cluster

portability:
	@$(SETUP) ci
	sh tests/portability.sh . build-portability

realism: setup
	meson compile -C $(BUILD) realism
	meson compile -C $(BUILD) realism-links

# Needs Doxygen, which a build does not. A warning is an error.
docs:
	@$(SETUP) docs
	@mkdir -p build
	@HPCW_VERSION=$$(sh tests/version.sh) doxygen doc/Doxyfile
	@echo build/docs/index.html

deb: setup
	@$(SETUP) deb
	sh tests/install/packages.sh . $(BUILD)/packages

# The stamp tells a build directory that was configured here from one made by hand, perhaps before the packages
# were there and so without tests.
setup:
	@$(SETUP)
	@test -f $(BUILD)/.configured || { \
	    if test -f $(BUILD)/build.ninja; then wipe=--wipe; fi; \
	    meson setup $$wipe $(BUILD) --buildtype=release -Dtests=enabled $(SETTINGS) && touch $(BUILD)/.configured; }

clean:
	rm -rf $(BUILD) build-mpich build-portability

.PHONY: synth check bench-check chaos crash fuzz cluster portability realism docs deb setup clean

# The commands of the README. Each installs what the machine lacks, builds, and does its job.
# CARGO and PYTHON name the programs to use; ARGS is added to the options of `make run`,
# TESTS to those of cargo test, as in make test TESTS="--test host wsm5", FEATURES to those of the program, as in
# make build FEATURES=zarr.

CARGO ?= cargo
PYTHON ?= python3
ARGS ?=
TESTS ?=
FEATURES ?=

# The Fortran compiler and its options: those of the host, such as -fdefault-real-8, for the modules of `make fortran`.
ifeq ($(origin FC), default)
FC := gfortran
endif
FFLAGS ?= -O2
CPP_TRADITIONAL ?= cpp -P -traditional

# What the kernels are compiled for where no GPU tells.
ARCHITECTURES ?= sm_80 sm_90 sm_100 sm_120

# The oldest CMake that can build the HDF5 library inside the program.
CMAKE_NEEDED := 3.26
cmake_is_recent = test "$$(printf '%s\n' $(CMAKE_NEEDED) "$$($(1) --version 2>/dev/null | \
	sed -n 's/^cmake version //p')" | sort -V | head -n 1)" = $(CMAKE_NEEDED)

# A CMake on PATH is left to be found, so that plain cargo and make build alike; cargo builds HDF5
# anew whenever the variable CMAKE changes.
ifeq ($(origin CMAKE), undefined)
ifneq ($(shell $(call cmake_is_recent,cmake) && echo yes), yes)
LOCAL_CMAKE := .venv/bin/cmake
export CMAKE := $(CURDIR)/$(LOCAL_CMAKE)
endif
endif

# The jobs of make are not those of cargo.
unexport MAKEFLAGS MFLAGS
.NOTPARALLEL:
.ONESHELL:
SHELL := /bin/sh
.SHELLFLAGS := -euc
.DEFAULT_GOAL := help
.PHONY: help run test gpu-test emulated-gpu-test kernels build c-library fortran python wheel lint tools

help: ## list these commands
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 20

run: build ## simulate an hour of the cyclone in data/soc.nc and write soc.out.nc
	target/release/nwp-mini run --input data/soc.nc --force $(ARGS)

test: tools ## run all tests that need no GPU
	$(CARGO) test --release --target-dir target $(FEATURES:%=--features %) $(TESTS)
	# By itself: another member would turn on features that the library has not.
	if [ -z "$(TESTS)" ]; then
		$(CARGO) test --release --target-dir target --package nwp-mini-host
		$(CARGO) test --release --target-dir target --package nwp-mini-c
	fi

gpu-test: tools ## run the tests of the GPU; without one they say that they are skipped
	$(CARGO) test --release --target-dir target --test gpu
	# Those that measure time want the machine for themselves.
	$(CARGO) test --release --target-dir target --test gpu -- --ignored --test-threads 1 --nocapture

emulated-gpu-test: tools ## run the tests of the GPU on small grids on an emulated one, which takes minutes
	CARGO=$(CARGO) validation/emulated_gpu.sh $(TESTS)

kernels: build $(if $(NWP_NVRTC),,local-nvrtc) ## compile every CUDA kernel, no GPU needed, and check what it takes
	VIRTUAL_ENV=$(CURDIR)/.venv target/release/nwp-mini kernels --check $(ARCHITECTURES:%=--arch %) $(ARGS)

build: tools ## build target/release/nwp-mini
	@echo "Building target/release/nwp-mini (the first time takes some minutes)"
	$(CARGO) build --release --target-dir target $(FEATURES:%=--features %)

c-library: compilers ## build target/release/libnwp_mini_c.so and .a, for C and Fortran
	$(CARGO) build --release --target-dir target --package nwp-mini-c

fortran: c-library ## compile the module nwp_mini and WRF's WSM5 and WSM6 to target/fortran; FC and FFLAGS are used
	@command -v $(FC) >/dev/null || { echo "error: no $(FC) found; install the package gfortran, or set FC" >&2; exit 1; }
	mkdir -p target/fortran
	for source in nwp_mini.f90 module_mp_wsm5.F module_mp_wsm6.F; do
		stem=target/fortran/$${source%.*}
		$(CPP_TRADITIONAL) $(FCPPFLAGS) bindings/fortran/$$source >$$stem.f90
		(cd target/fortran && $(FC) $(FFLAGS) -c $${source%.*}.f90)
	done

# Packages for building and testing the Python package, apart from those of the machine.
PYTHON_PLACE := target/python/venv
PYTHON_NEEDS := maturin pytest numpy xarray netCDF4 h5py tqdm mypy types-tqdm nbconvert ipykernel
with_python = VIRTUAL_ENV=$(CURDIR)/$(PYTHON_PLACE) PATH="$(CURDIR)/$(PYTHON_PLACE)/bin:$$PATH" \
	CARGO_TARGET_DIR=$(CURDIR)/target

.PHONY: python-place
python-place:
	@if [ ! -e $(PYTHON_PLACE)/ready ]; then
		$(PYTHON) -m venv --clear $(PYTHON_PLACE) || { echo "error: install python3-venv" >&2; exit 1; }
		$(PYTHON_PLACE)/bin/python -m pip install --quiet $(PYTHON_NEEDS)
		touch $(PYTHON_PLACE)/ready
	fi

python: tools python-place ## build the Python package on what make build has built, and test it
	$(with_python) pip install --quiet --no-build-isolation --force-reinstall --no-deps .
	$(with_python) python -m pytest $(TESTS)
	$(with_python) mypy
	$(with_python) python -m mypy.stubtest --allowlist bindings/python/stubtest_allowlist.txt \
		nwp_mini._schemes nwp_mini._core
	$(with_python) jupyter nbconvert --log-level WARN --to html --execute --output-dir target/python \
		bindings/python/storm.ipynb

wheel: tools python-place ## build a wheel for Python 3.10 and later in target/wheels
	$(with_python) maturin build --release --out target/wheels

lint: tools ## check formatting, clippy and documentation; no warning passes
	@for part in fmt clippy; do
		if ! $(CARGO) $$part --version >/dev/null 2>&1; then
			echo "Adding the $$part component to Rust"
			rustup component add $$(echo $$part | sed 's/^fmt/rustfmt/')
		fi
	done
	set -x
	$(CARGO) fmt --all --check
	# Members one by one: together they would turn on features of the library that some of them have not.
	$(CARGO) clippy --release --target-dir target $(FEATURES:%=--features %) --all-targets -- -D warnings
	for member in nwp-mini-support nwp-mini-outsider nwp-mini-host nwp-mini-c nwp-mini-python; do
		$(CARGO) clippy --release --target-dir target --package $$member --all-targets -- -D warnings
	done
	RUSTDOCFLAGS="$${RUSTDOCFLAGS:-} -D warnings" \
		$(CARGO) doc --release --target-dir target --no-deps

tools: compilers $(if $(LOCAL_CMAKE),local-cmake)

.PHONY: compilers
compilers:
	@missing() { echo "error: no $$1 found; $$2" >&2; exit 1; }
	$(CARGO) --version >/dev/null 2>&1 || missing Rust "install 1.91 or newer with rustup"
	command -v cc >/dev/null || missing "C compiler" "install gcc"
	command -v c++ >/dev/null || missing "C++ compiler" "install g++"

# Programs of a virtual environment know its path, so those of a moved checkout are installed anew.
# Debian's Python can lack venv's own pip.
define install
	works() { "$$@" --version >/dev/null 2>&1; }
	works $(PYTHON) || { echo "error: no $(PYTHON) found; install Python 3, or $(2)" >&2; exit 1; }
	if ! works .venv/bin/python -m pip; then
		echo "Creating .venv"
		$(PYTHON) -m venv --clear .venv >/dev/null 2>&1 ||
			$(PYTHON) -m virtualenv --clear --quiet .venv >/dev/null 2>&1 ||
			$(PYTHON) -m venv --clear --without-pip .venv || {
				echo "error: $(PYTHON) cannot make virtual environments." >&2
				echo "Install python3-venv, or $(2), and try again." >&2
				exit 1
			}
	fi
	if works .venv/bin/python -m pip; then
		.venv/bin/python -m pip install --quiet --force-reinstall "$(1)"
	elif works $(PYTHON) -m pip; then
		$(PYTHON) -m pip --python .venv/bin/python install --quiet --force-reinstall "$(1)"
	else
		echo "error: $(PYTHON) has neither pip nor ensurepip." >&2
		echo "Install python3-venv, or $(2), and try again." >&2
		exit 1
	fi
endef

# Does nothing when one is found.
.PHONY: local-nvrtc
local-nvrtc:
	@if VIRTUAL_ENV=$(CURDIR)/.venv target/release/nwp-mini kernels --precision f32 >/dev/null 2>&1; then exit 0; fi
	echo "No NVRTC found: installing one in the virtual environment .venv"
	$(call install,nvidia-cuda-nvrtc==13.0.*,the CUDA toolkit)

# Does nothing when the one in .venv works.
.PHONY: local-cmake
local-cmake:
	@if $(call cmake_is_recent,"$$CMAKE"); then exit 0; fi
	echo "No CMake $(CMAKE_NEEDED) or newer on PATH: installing one in the virtual environment .venv"
	$(call install,cmake>=$(CMAKE_NEEDED),CMake $(CMAKE_NEEDED) or newer)
	if ! $(call cmake_is_recent,"$$CMAKE"); then
		echo "error: the CMake in .venv does not work; remove .venv and try again." >&2
		exit 1
	fi
	echo "Installed $$("$$CMAKE" --version | sed -n 's/ version//p')"

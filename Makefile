# make build   bin/orcomgo, pure Go
# make demo    simulate a small paired run, archive it, restore it, compare
# make man     man/orcomgo-*.1
# make deb     a Debian package; see Packages below
# make test    everything that should pass before a commit, in minutes; with ORCOMGO_DATA=DIR (an absolute path)
#              also the tests on real runs, in DIR
GO     ?= go
BENCH  ?= .
DEMO   ?= /tmp/orcomgo-demo
# The same bytes from the same commit, whoever owns the checkout: Go would refuse to look at one of another user. Git is asked for
# the commit here, with "+" after it for a tree with changes; without git or a repository it is unknown.
GIT     = git -c safe.directory='*'
COMMIT  = $(shell $(GIT) rev-parse HEAD 2>/dev/null && { $(GIT) diff --quiet HEAD || echo +; })
BUILD   = -trimpath -buildvcs=false -ldflags '-X main.sourceCommit=$(subst $() ,,$(COMMIT))'
export CGO_ENABLED ?= 0

# the packages whose pipelines are tested under the race detector
PIPELINES = ./binning/... ./compress ./compress/packing ./compress/workers ./cmd/simreads/sim

# How long the tests of one package may take: minutes on a machine with nothing else to do,
# much longer where other processes have the cores. The limit is there for tests that hang.
PATIENCE ?= 90m

# How many packages each of the two rows of make test compiles or tests at a time, and how many tests of a package: where other processes
# have the cores, each process of ours gets a share of them.
AT_ONCE  ?= 4
TOGETHER ?= 6

# Compilers and tests make much garbage and need little memory.
test vet vet-cuda lint unit race: export GOGC ?= 400

.PHONY: all build install man demo test vet format lint unit race test-long vet-platforms test-arm64 test-slurm test-pipelines bench fixtures clean

all: build

build:
	$(GO) build $(BUILD) -o bin/orcomgo ./cmd/orcomgo
	$(GO) build $(BUILD) -o bin/simreads ./cmd/simreads

install:
	$(GO) install $(BUILD) ./cmd/orcomgo

# man/orcomgo.1, man/orcomgo-bin.1 and so on
man: build
	bin/orcomgo man man/

demo: build
	./cmd/orcomgo/demo.sh bin $(DEMO)

# Two rows side by side, so that neither core waits where the other compiles or a single long test runs; what the race detector
# needs is compiled apart from the rest.
test: format
	@$(MAKE) race lint vet-cuda & other=$$!; $(MAKE) vet unit; status=$$?; wait $$other && exit $$status

vet:
	$(GO) vet ./...

format:
	@out=$$($(GO) env GOROOT)/bin/gofmt; [ -x "$$out" ] || out=gofmt; \
	list=$$($$out -l $$(find . -name '*.go' -not -path './.git/*')); \
	if [ -n "$$list" ]; then echo "gofmt would change:"; echo "$$list"; exit 1; fi

lint:
	@tool=$$(command -v staticcheck || echo "$$($(GO) env GOPATH)/bin/staticcheck"); \
	if [ -x "$$tool" ]; then echo "$$tool ./..."; "$$tool" ./...; else echo "staticcheck is not installed: skipped"; fi

# Without vet, which would look at all packages a second time.
unit:
	$(GO) test -vet=off -p $(AT_ONCE) -parallel $(TOGETHER) -timeout $(PATIENCE) ./...

# The race detector needs cgo and a C compiler.
race:
	@if cc=$$($(GO) env CC) && command -v "$${cc%% *}" >/dev/null; then \
		echo "CGO_ENABLED=1 $(GO) test -vet=off -race -p $(AT_ONCE) $(PIPELINES)"; CGO_ENABLED=1 $(GO) test -vet=off -race -p $(AT_ONCE) -parallel $(TOGETHER) -timeout $(PATIENCE) $(PIPELINES); \
	else echo "no C compiler: the race detector was not run"; fi

# Other systems and processors: the program and its tests must compile.
PLATFORMS = linux/arm64 darwin/arm64 darwin/amd64 windows/arm64 windows/amd64
vet-platforms:
	@for p in $(PLATFORMS); do \
		echo "GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) vet ./..."; GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) vet ./... || exit 1; \
	done

# The tests of the packages on 64-bit ARM, by qemu where it is installed.
ARM64_PKGS = ./binning/... ./bins/... ./minimizer ./compress ./compress/archive ./compress/packing ./compress/basemodel ./compress/names \
	./compress/overlap ./compress/quals ./compress/rangecoder ./compress/seqs
test-arm64:
	@qemu=$$(command -v qemu-aarch64-static || command -v qemu-aarch64); \
	if [ -n "$$qemu" ]; then \
		echo "GOARCH=arm64 $(GO) test -exec $$qemu"; \
		GOARCH=arm64 ORCOMGO_EMULATED=1 $(GO) test -timeout $(PATIENCE) -exec "$$qemu" $(ARM64_PKGS); \
	else echo "qemu-aarch64 is not installed: nothing was tested on arm64"; fi

# Everything that takes longer: more random moments to be killed at, an error in every system call (by strace where it is
# installed), more damages, large inputs, fuzzing; vet-platforms and test-arm64. Each part is a process on two cores, several side by
# side where there are more. A line says what came of each, and bin/long has the logs. Some parts: make test-long PARTS=REGEXP.
FUZZTIME ?= 20s
PARTS    ?= .
test-long:
	GO='$(GO)' FUZZTIME=$(FUZZTIME) deploy/check/testlong.sh '$(PARTS)'

# The workflow of deploy/snakemake on a Slurm cluster of three nodes on this machine: as root, with Debian's packages.
test-slurm: build
	deploy/snakemake/test/slurm.sh --install bin

# What is for pipelines in deploy, with the tools that are installed: Groovy runs the modules for nf-core, Snakemake the
# wrappers and, on this machine, the workflow; MultiQC reads reports.
test-pipelines: build
	deploy/nf-core/test/run.sh bin
	deploy/snakemake-wrapper/test.sh bin
	deploy/snakemake/test/local.sh bin
	deploy/check/multiqc.sh bin

bench:
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem ./...

# Make the files in testdata anew.
fixtures:
	$(GO) generate ./cmd/simreads

clean:
	rm -rf bin man $(DEMO)
	$(GO) clean -testcache

# --- GPU -------------------------------------------------------------------------------
# make cuda       bin/orcomgo-cuda beside bin/orcomgo; needs cuda.h and libcuda (a stub will do), no GPU
# make ptx        cudakern/block.ptx from the kernels; needs nvcc 11 or newer
# make test-cuda  test binaries to run on a machine with a GPU: bin/*-cuda.test
NVCC     ?= nvcc
CUDA_CC  ?= $(shell command -v gcc || command -v cc)
# -w: gorgonia.org/cu wraps calls that newer headers call deprecated
CUDA_ENV  = CGO_ENABLED=1 CC="$(CUDA_CC)" CGO_CFLAGS="-O2 -w"
CUDA_PKGS = ./cudakern ./binning ./compress/overlap ./compress/quals ./cmd/orcomgo

.PHONY: cuda ptx test-cuda vet-cuda

cuda: build
	$(CUDA_ENV) $(GO) build $(BUILD) -tags cuda -o bin/orcomgo-cuda ./cmd/orcomgo

# The first line of the PTX is a checksum of all that it is made from: a test compares it.
ptx:
	cd cudakern && $(NVCC) $$(cat kernels/nvcc.flags) -o block.ptx.tmp kernels/block.cu && \
	{ printf '// source-sha256 %s\n' $$(cat shared.h $$(ls kernels/* | LC_ALL=C sort) | sha256sum | cut -c 1-64); cat block.ptx.tmp; } >block.ptx && \
	rm block.ptx.tmp

test-cuda:
	$(CUDA_ENV) $(GO) test -c -trimpath -tags cuda -o bin/cudakern-cuda.test ./cudakern
	$(CUDA_ENV) $(GO) test -c -trimpath -tags cuda -o bin/binning-cuda.test ./binning
	$(CUDA_ENV) $(GO) test -c -trimpath -tags cuda -o bin/overlap-cuda.test ./compress/overlap
	$(CUDA_ENV) $(GO) test -c -trimpath -tags cuda -o bin/quals-cuda.test ./compress/quals

# Where CUDA's headers and library are, the cuda build must compile and vet.
vet-cuda:
	@if echo 'int main(void) { return 0; }' | $(CUDA_CC) -include cuda.h -x c - -lcuda -o /dev/null 2>/dev/null; then \
		echo "$(GO) vet -tags cuda $(CUDA_PKGS)"; $(CUDA_ENV) $(GO) vet -tags cuda $(CUDA_PKGS) && \
		$(CUDA_ENV) $(GO) build -tags cuda -o /dev/null ./cmd/orcomgo; \
	else echo "no CUDA headers: the cuda build was not checked"; fi

# --- Packages --------------------------------------------------------------------------
# make share          bin/share: the program with man pages, completions and licences, as it is installed
# make deb            bin/dist/orcomgo_VERSION_ARCH.deb, for the machine's architecture or DEB_ARCH
# make notice         deploy/NOTICE, the licences of all that is linked
# make release        the tarballs of a release for Linux and macOS, with checksums and bills of materials, in bin/dist
# make release-check  builds all packages that can be built here and runs the program of each; minutes
HOSTARCH  = $(shell $(GO) env GOHOSTARCH)
DEB_ARCH ?= $(HOSTARCH)
PROGRAM  ?= bin/dist/linux_$(DEB_ARCH)/orcomgo
VERSION   = $(shell sed -n 's/^const version = "\(.*\)"/\1/p' cmd/orcomgo/version.go)
RELEASE   = $(subst -ldflags ',-ldflags '-s -w ,$(BUILD))

.PHONY: share deb program notice release release-check

share: build
	rm -rf bin/share
	deploy/install.sh bin/orcomgo bin/share

# The program as it is distributed, for GOOS and GOARCH: without tables for debuggers.
program:
	CGO_ENABLED=0 $(GO) build $(RELEASE) -o $(PROGRAM) ./cmd/orcomgo

deb: build
	$(MAKE) --no-print-directory program GOOS=linux GOARCH=$(DEB_ARCH)
	SOURCE_DATE_EPOCH=$$($(GIT) log -1 --format=%ct 2>/dev/null || echo 0) \
		deploy/deb/build.sh $(PROGRAM) $(DEB_ARCH) bin/dist/orcomgo_$(VERSION)_$(DEB_ARCH).deb bin/orcomgo
	cp bin/dist/orcomgo_$(VERSION)_$(DEB_ARCH).deb bin/dist/orcomgo.deb

notice:
	$(GO) run ./deploy/notice >bin/NOTICE && mv bin/NOTICE deploy/NOTICE

release:
	deploy/release.sh

release-check:
	deploy/check/release.sh

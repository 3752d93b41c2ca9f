# make build   bin/orcomgo, pure Go
# make demo    simulate a small paired run, archive it, restore it, compare
# make test    everything that should pass before a commit, in minutes
GO     ?= go
BENCH  ?= .
DEMO   ?= /tmp/orcomgo-demo
export CGO_ENABLED ?= 0

# the packages whose pipelines are tested under the race detector
PIPELINES = ./binning ./compress ./cmd/simreads/...

.PHONY: all build install demo test vet format lint unit race test-long bench fixtures clean

all: build

build:
	$(GO) build -trimpath -o bin/orcomgo ./cmd/orcomgo
	$(GO) build -trimpath -o bin/simreads ./cmd/simreads

install:
	$(GO) install -trimpath ./cmd/orcomgo

demo: build
	./cmd/orcomgo/demo.sh bin $(DEMO)

test: vet format lint unit race

vet:
	$(GO) vet ./...

format:
	@out=$$($(GO) env GOROOT)/bin/gofmt; [ -x "$$out" ] || out=gofmt; \
	list=$$($$out -l $$(find . -name '*.go' -not -path './.git/*')); \
	if [ -n "$$list" ]; then echo "gofmt would change:"; echo "$$list"; exit 1; fi

lint:
	@tool=$$(command -v staticcheck || echo "$$($(GO) env GOPATH)/bin/staticcheck"); \
	if [ -x "$$tool" ]; then echo "$$tool ./..."; "$$tool" ./...; else echo "staticcheck is not installed: skipped"; fi

unit:
	$(GO) test -timeout 10m ./...

# The race detector needs cgo and a C compiler.
race:
	@if cc=$$($(GO) env CC) && command -v "$${cc%% *}" >/dev/null; then \
		echo "CGO_ENABLED=1 $(GO) test -race -short $(PIPELINES)"; CGO_ENABLED=1 $(GO) test -race -short -timeout 10m $(PIPELINES); \
	else echo "no C compiler: the race detector was not run"; fi

# Everything that takes longer: more random moments to be killed at, large inputs, fuzzing.
FUZZTIME ?= 20s
test-long:
	ORCOMGO_LONG=1 $(GO) test -count 1 -timeout 60m -v -run 'Long|Kill' ./cmd/orcomgo
	@for pkg in $$($(GO) list ./...); do \
		for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
			echo "fuzz $$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; \
		done; \
	done

bench:
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem ./...

# Make the files in testdata anew.
fixtures:
	$(GO) generate ./cmd/simreads

clean:
	rm -rf bin $(DEMO)
	$(GO) clean -testcache

# --- GPU -------------------------------------------------------------------------------

#!/bin/bash
# The build of the Conda package: conda-build sets SRC_DIR and PREFIX, and calls this in SRC_DIR.
set -euo pipefail
commit=$(git -c safe.directory='*' rev-parse HEAD 2>/dev/null || true)
CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X main.sourceCommit=$commit" -o orcomgo-built ./cmd/orcomgo
deploy/install.sh "$PWD/orcomgo-built" "$PREFIX"
rm orcomgo-built

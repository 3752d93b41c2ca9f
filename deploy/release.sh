#!/bin/sh
# release.sh [FOLDER]: makes the tarballs of a release in FOLDER (bin/dist): orcomgo_VERSION_OS_ARCH.tar.gz for Linux and macOS on amd64
# and arm64, a bill of materials of each program, and SHA256SUMS of all. The same commit makes the same bytes. `make release` calls it.
set -eu
cd "$(dirname "$0")/.."
dist=${1:-bin/dist}
version=$(sed -n 's/^const version = "\(.*\)"/\1/p' cmd/orcomgo/version.go)
SOURCE_DATE_EPOCH=$(git -c safe.directory='*' log -1 --format=%ct 2>/dev/null || echo 0)
export SOURCE_DATE_EPOCH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$dist"

make --no-print-directory build
for platform in linux_amd64 linux_arm64 darwin_amd64 darwin_arm64; do
	name=orcomgo_${version}_$platform
	make --no-print-directory program GOOS="${platform%_*}" GOARCH="${platform#*_}" PROGRAM="$dist/$platform/orcomgo"
	deploy/install.sh "$dist/$platform/orcomgo" "$work/$name" bin/orcomgo
	cp deploy/tarball/install.sh LICENSE README.md CHANGELOG.md deploy/NOTICE "$work/$name/"
	chmod -R u=rwX,go=rX "$work/$name"
	tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - "$name" |
		gzip -9n >"$dist/$name.tar.gz"
	go run ./deploy/notice -sbom "$dist/$platform/orcomgo" >"$dist/$name.spdx.json"
done
cd "$dist"
sha256sum "orcomgo_${version}"_*.tar.gz "orcomgo_${version}"_*.spdx.json >SHA256SUMS
cat SHA256SUMS

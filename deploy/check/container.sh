#!/bin/sh
# container.sh ROOT: builds deploy/docker/Dockerfile and runs the program in the image. With buildah no image is
# downloaded: the Debian below ROOT, with the Go of this machine, is the one that the program is built in.
# Otherwise by docker, where its daemon runs.
set -eu
root=$1
here=$(cd "$(dirname "$0")" && pwd)
source=$here/../..
work=$(mktemp -d)
commit=$(git -C "$source" -c safe.directory='*' rev-parse HEAD 2>/dev/null || echo unknown)
trap 'rm -rf "$work"' EXIT
mkdir "$work/data"
cp "$source/testdata/pair41_R1.fastq" "$source/testdata/pair41_R2.fastq" "$work/data/"

if command -v buildah >/dev/null && [ "$(id -u)" = 0 ]; then
	b() { buildah --storage-driver vfs --root "$work/store" --runroot "$work/run" "$@"; }
	# the build stage
	container=$(b from scratch)
	tar -C "$root" -cf "$work/root.tar" --exclude='./dev/*' --exclude='./proc/*' .
	b add "$container" "$work/root.tar" / >/dev/null
	rm "$work/root.tar"
	b config --env PATH=/usr/local/go/bin:/usr/bin:/bin --env GOTOOLCHAIN=local "$container"
	b commit --quiet --rm "$container" localhost/builder >/dev/null
	mkdir -p "$work/cache"
	b bud --quiet --isolation chroot --layers=false --build-arg BUILDER=localhost/builder --build-arg COMMIT="$commit" \
		--volume "$(go env GOROOT):/usr/local/go:ro" --volume "$(go env GOMODCACHE):/root/go/pkg/mod:ro" \
		--volume "$(go env GOCACHE):/root/.cache/go-build" \
		-f "$here/../docker/Dockerfile" -t localhost/orcomgo "$source" >/dev/null
	container=$(b from localhost/orcomgo)
	layer=$(b mount "$container")
	echo "files of the image: $(cd "$layer" && find . -type f ! -path './proc/*' ! -path './dev/*' | LC_ALL=C sort | tr '\n' ' ')"
	b umount "$container" >/dev/null
	run() { b run --isolation chroot --volume "$work/data:/data" "$container" -- /usr/bin/orcomgo "$@"; }
elif docker info >/dev/null 2>&1; then
	docker build -q -f "$here/../docker/Dockerfile" --build-arg COMMIT="$commit" -t orcomgo "$source" >/dev/null
	run() { docker run --rm -v "$work/data:/data" orcomgo "$@"; }
else
	echo "neither buildah as root nor docker: no image was built"
	exit 3
fi
run version | cat
run version | grep -q "^commit $commit" || { echo "the program in the image was not built from $commit"; exit 1; }
run archive --quiet -1 pair41_R1.fastq -2 pair41_R2.fastq run/
run unpack --quiet run/ -o restored/
cmp "$work/data/pair41_R1.fastq" "$work/data/restored/pair41_R1.fastq"
cmp "$work/data/pair41_R2.fastq" "$work/data/restored/pair41_R2.fastq"

#!/bin/sh
# release.sh: builds all that can be built on this machine and runs the program of each. bin/dist has the results. What
# can't be done here is said, with the reason; a failure ends it. `make release-check` calls it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
dist=bin/dist
version=$(sed -n 's/^const version = "\(.*\)"/\1/p' cmd/orcomgo/version.go)
SOURCE_DATE_EPOCH=$(git -c safe.directory='*' log -1 --format=%ct 2>/dev/null || echo 0)
export SOURCE_DATE_EPOCH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -rf "$dist"
mkdir -p "$dist"

say() { printf '%-34s %s\n' "$1" "$2"; }

# check NAME COMMAND...: runs a command; its output is shown if it fails. Status 3 means that it can't be done here, and
# the last line says why.
check() {
	name=$1
	shift
	status=0
	# in the background, since errors would not end a function that is called before ||
	(set -e; "$@") >"$work/log" 2>&1 &
	wait $! || status=$?
	case $status in
	0) say "$name" ok ;;
	3) say "$name" "skipped: $(tail -n 1 "$work/log")" ;;
	*)
		say "$name" FAILED
		cat "$work/log"
		exit 1
		;;
	esac
}

cant() {
	echo "$1"
	return 3
}

# roundtrip PROGRAM...: archives a pair and restores it.
roundtrip() {
	rm -rf "$work/run" "$work/restored"
	"$@" archive --quiet -1 testdata/pair41_R1.fastq -2 testdata/pair41_R2.fastq "$work/run/"
	"$@" verify --quiet "$work/run/"
	"$@" unpack --quiet "$work/run/" -o "$work/restored/"
	cmp testdata/pair41_R1.fastq "$work/restored/pair41_R1.fastq"
	cmp testdata/pair41_R2.fastq "$work/restored/pair41_R2.fastq"
}

# tarballs: the same commit makes the same bytes; the one for this machine is installed, used and removed.
tarballs() {
	deploy/release.sh "$dist"
	deploy/release.sh "$work/again" >/dev/null
	cmp "$dist/SHA256SUMS" "$work/again/SHA256SUMS"
	tar -C "$work" -xzf "$dist/orcomgo_${version}_$(go env GOHOSTOS)_$(go env GOHOSTARCH).tar.gz"
	folder=$work/orcomgo_${version}_$(go env GOHOSTOS)_$(go env GOHOSTARCH)
	"$folder/install.sh" "$work/root"
	roundtrip "$work/root/bin/orcomgo"
	"$folder/install.sh" --remove "$work/root"
	[ -z "$(find "$work/root" -type f)" ]
	emulator=$(command -v qemu-aarch64-static || command -v qemu-aarch64) || return 0
	"$emulator" "$dist/linux_arm64/orcomgo" version
}

package() {
	command -v dpkg-deb >/dev/null || cant "dpkg-deb is not installed"
	deploy/deb/build.sh "$dist/linux_$1/orcomgo" "$1" "$dist/orcomgo_${version}_$1.deb" bin/orcomgo
	command -v lintian >/dev/null || cant "built, but lintian is not installed"
	lintian --allow-root --fail-on error,warning,info,pedantic --display-info --pedantic "$dist/orcomgo_${version}_$1.deb"
}

cuda() {
	echo 'int main(void) { return 0; }' | gcc -include cuda.h -x c - -lcuda -o /dev/null 2>/dev/null || cant "there are no CUDA headers"
	make --no-print-directory cuda
	if ! bin/orcomgo-cuda version >"$work/version" 2>&1; then
		cat "$work/version"
		! grep -q 'no usable GPU' "$work/version" || cant "built, but there is no GPU to run it on"
		return 1
	fi
	grep -q 'CPU and CUDA' "$work/version"
	roundtrip bin/orcomgo-cuda
}

system() {
	[ "$(id -u)" = 0 ] || cant "it needs root"
	command -v mmdebstrap >/dev/null || command -v debootstrap >/dev/null || cant "neither mmdebstrap nor debootstrap is installed"
	"$here/chroot.sh" "$work/system"
}

# insystem COMMAND...: runs a command that takes the small Debian, if there is one.
insystem() {
	[ -d "$work/system/bin" ] || cant "there is no small Debian"
	"$@"
}

check "program" make --no-print-directory build
check "NOTICE" sh -c "go run ./deploy/notice >$work/NOTICE && cmp $work/NOTICE deploy/NOTICE"
check "tarballs" tarballs
check "deb amd64" package amd64
check "deb arm64" package arm64
cp "$dist/orcomgo_${version}_$(go env GOHOSTARCH).deb" "$dist/orcomgo.deb" 2>/dev/null || true
check "CUDA" cuda
check "small Debian" system
check "tarball in the small Debian" insystem "$here/tarball.sh" "$work/system" "$dist/orcomgo_${version}_linux_$(go env GOHOSTARCH).tar.gz"
check "deb in the small Debian" insystem "$here/deb.sh" "$work/system" "$dist/orcomgo.deb"
check "Apptainer" insystem "$here/apptainer.sh" "$work/system"
check "container" insystem "$here/container.sh" "$work/system"
check "Conda" "$here/conda.sh"
cat "$dist/SHA256SUMS"

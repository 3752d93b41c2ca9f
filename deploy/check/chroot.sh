#!/bin/sh
# chroot.sh DIR: makes a small Debian in DIR, which must not exist, of the release that this machine has. It needs root
# and mmdebstrap, or debootstrap.
set -eu
dir=$1
# shellcheck disable=SC1091
release=$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")
packages=man-db,bash-completion
if command -v mmdebstrap >/dev/null; then
	mmdebstrap --quiet --variant=minbase --include="$packages" "$release" "$dir"
else
	debootstrap --variant=minbase --include="$packages" "$release" "$dir" >/dev/null
fi

#!/bin/sh
# apptainer.sh ROOT: builds the image by Apptainer or Singularity. Without them the files of the definition are copied to
# the Debian below ROOT, and its %post and %test are run there as a container's.
set -eu
root=$1
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
definition=deploy/apptainer/orcomgo.def
for tool in apptainer singularity; do
	if command -v $tool >/dev/null; then
		work=$(mktemp -d)
		trap 'rm -rf "$work"' EXIT
		$tool build "$work/orcomgo.sif" "$definition"
		$tool test "$work/orcomgo.sif"
		exit
	fi
done
# section prints the lines of a section.
section() { awk -v name="%$1" '/^%/ { on = $1 == name; next } on' "$definition"; }
section files | while read -r from to; do
	if [ -n "$from" ]; then cp "$from" "$root$to"; fi
done
for part in post test; do
	section $part >"$root/tmp/$part.sh"
	chroot "$root" sh -eu "/tmp/$part.sh"
done
section runscript | sed 's/"\$@"/version/' >"$root/tmp/runscript.sh"
chroot "$root" sh -eu /tmp/runscript.sh
chroot "$root" dpkg --purge orcomgo
rm -rf "$root"/tmp/*

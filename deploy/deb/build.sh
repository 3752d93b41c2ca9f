#!/bin/sh
# build.sh PROGRAM ARCH OUT.deb [GENERATOR]: makes a Debian package of a program for amd64 or arm64 with dpkg's tools.
# The same commit gives the same bytes: times are those of the commit, $SOURCE_DATE_EPOCH.
# $DEB_MAINTAINER is who is responsible for the package, as "NAME <ADDRESS>".
set -eu
program=$1 arch=$2 out=$3 generator=${4:-$1}
here=$(cd "$(dirname "$0")" && pwd)
maintainer=${DEB_MAINTAINER:-the orcomgo authors <orcomgo@packages.invalid>}
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-0}"
version=$("$generator" version --json | sed -n 's/^ *"version": "\(.*\)",$/\1/p')
date=$(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")
umask 022
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

"$here/../install.sh" "$program" "$tree/usr" "$generator"
share=$tree/usr/share
mv "$share/zsh/site-functions" "$share/zsh/vendor-completions"
doc=$share/doc/orcomgo
rm "$doc/LICENSE" # it is in copyright
gzip -9n "$doc/NOTICE"
cp "$here/copyright" "$doc/copyright"
gzip -9nc "$here/../../CHANGELOG.md" >"$doc/CHANGELOG.md.gz"
gzip -9nc "$here/../../README.md" >"$doc/README.md.gz"
printf 'orcomgo (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md.gz.\n\n -- %s  %s\n' "$version" "$maintainer" "$date" |
	gzip -9n >"$doc/changelog.gz"
mkdir -p "$share/lintian/overrides" "$tree/DEBIAN"
cp "$here/lintian-overrides" "$share/lintian/overrides/orcomgo"

size=$(du -k -s --apparent-size "$tree/usr" | cut -f 1)
sed -e "s|@VERSION@|$version|; s|@ARCH@|$arch|; s|@MAINTAINER@|$maintainer|; s|@SIZE@|$size|" "$here/control" >"$tree/DEBIAN/control"
(cd "$tree" && find usr -type f | LC_ALL=C sort | xargs md5sum) >"$tree/DEBIAN/md5sums"
chmod -R u=rwX,go=rX "$tree"
find "$tree" -newermt "@$SOURCE_DATE_EPOCH" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
mkdir -p "$(dirname "$out")"
dpkg-deb --root-owner-group -Zxz --build "$tree" "$out" >/dev/null
echo "$out"

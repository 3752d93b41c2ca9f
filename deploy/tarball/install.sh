#!/bin/sh
# install.sh [FOLDER]            installs orcomgo with man pages and completions below FOLDER: /usr/local as root, else ~/.local
# install.sh --remove [FOLDER]   removes what it installed there, except for files that were changed since
set -eu
here=$(cd "$(dirname "$0")" && pwd)
remove=
if [ "${1:-}" = --remove ]; then
	remove=1
	shift
fi
case ${1:-} in -*)
	sed -n 's/^# //p' "$0"
	exit 2
	;;
esac
if [ "$(id -u)" = 0 ]; then root=${1:-/usr/local}; else root=${1:-$HOME/.local}; fi
cd "$here"

find bin share -type f | while read -r file; do
	if [ -z "$remove" ]; then
		mkdir -p "$root/$(dirname "$file")"
		# under another name first, so that a program that runs is replaced and not written to
		cp "$file" "$root/$file.new"
		mv -f "$root/$file.new" "$root/$file"
	elif [ ! -e "$root/$file" ]; then
		:
	elif cmp -s "$file" "$root/$file"; then
		rm "$root/$file"
	else
		echo "install.sh: $root/$file is another version and stays" >&2
	fi
done
if [ -n "$remove" ]; then
	rmdir "$root/share/doc/orcomgo" 2>/dev/null || true
	exit
fi
"$root/bin/orcomgo" --version | head -n 1
case :$PATH: in
*":$root/bin:"*) ;;
*) echo "$root/bin is not in PATH: export PATH=\"$root/bin:\$PATH\"" ;;
esac

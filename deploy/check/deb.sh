#!/bin/sh
# deb.sh ROOT PACKAGE.deb: installs a package in the Debian below ROOT, uses all parts of it there, and removes it.
set -eu
root=$1 package=$2
here=$(cd "$(dirname "$0")" && pwd)
reads=$here/../../testdata
rm -rf "$root"/tmp/*
cp "$package" "$root/tmp/orcomgo.deb"
cp "$reads/pair41_R1.fastq" "$reads/pair41_R2.fastq" "$root/tmp/"
cat >"$root/tmp/use.sh" <<'END'
set -eu
export LC_ALL=C.UTF-8 MANPAGER=cat MANWIDTH=80
find / -xdev ! -path '/tmp/*' ! -path '/var/*' | sort >/tmp/before
dpkg -i /tmp/orcomgo.deb
cd /tmp
orcomgo version
orcomgo archive --quiet -1 pair41_R1.fastq -2 pair41_R2.fastq run/
orcomgo unpack --quiet run/ -o restored/
cmp pair41_R1.fastq restored/pair41_R1.fastq
cmp pair41_R2.fastq restored/pair41_R2.fastq
orcomgo report --quiet run/ -o run.html
grep -q 'Everything in this archive was decoded' run.html

# every command has a page, which man shows
for page in orcomgo $(orcomgo __complete '' 2>/dev/null | sed -n '/^help\|^completion/d; s/\t.*//; s/^[a-z]/orcomgo-&/p'); do
	man "$page" | grep -q '^NAME' || { echo "man $page shows nothing"; exit 1; }
done
man orcomgo | grep -q 'archives sequencing runs'

# the Tab key, as bash-completion loads it
bash -c '
	. /usr/share/bash-completion/bash_completion
	__load_completion orcomgo || _completion_loader orcomgo || true
	complete -p orcomgo >/dev/null
	COMP_WORDS=(orcomgo unp) COMP_CWORD=1 COMP_LINE="orcomgo unp" COMP_POINT=11 COMP_TYPE=9
	# it reports that it is not called by bash itself
	eval "$(complete -p orcomgo | sed "s/.*-F \([^ ]*\).*/\1/")" 2>/dev/null
	[[ " ${COMPREPLY[*]} " == *" unpack"* ]] || { echo "completion of unp is ${COMPREPLY[*]}"; exit 1; }
'
gzip -dc /usr/share/doc/orcomgo/NOTICE.gz | grep -q 'gonum.org/v1/plot'

dpkg --purge orcomgo
find / -xdev ! -path '/tmp/*' ! -path '/var/*' | sort >/tmp/after
cmp /tmp/before /tmp/after
END
# in a mount namespace of its own, with the /proc and /dev/fd that shells need
# shellcheck disable=SC2016
unshare -m sh -c 'mount -t proc proc "$0/proc" && mount -t tmpfs tmpfs "$0/dev" && ln -s /proc/self/fd "$0/dev/fd" &&
	mknod -m 666 "$0/dev/null" c 1 3 && exec chroot "$0" sh /tmp/use.sh' "$root"
rm -rf "$root"/tmp/*

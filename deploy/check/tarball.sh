#!/bin/sh
# tarball.sh ROOT TARBALL: from a tarball to a verified archive by two commands, in the Debian below ROOT, which has no Go. It prints
# what a user would see, and removes everything again.
set -eu
root=$1 tarball=$2
reads=$(cd "$(dirname "$0")" && pwd)/../../testdata
rm -rf "$root"/tmp/*
cp "$tarball" "$reads/pair41_R1.fastq" "$reads/pair41_R2.fastq" "$root/tmp/"
cat >"$root/tmp/use.sh" <<'END'
set -eu
cd /tmp
! command -v go
find / -xdev ! -path '/tmp/*' ! -path '/var/*' | sort >/tmp/before
run() { echo "# $1" && sh -c "$1"; }
run 'tar xzf orcomgo_*.tar.gz && orcomgo_*/install.sh'
run 'orcomgo archive -1 pair41_R1.fastq -2 pair41_R2.fastq archives/ 2>&1'
run 'orcomgo verify archives/ && orcomgo unpack -q archives/ -o restored/ && cmp pair41_R1.fastq restored/pair41_R1.fastq'
run 'orcomgo_*/install.sh --remove'
find / -xdev ! -path '/tmp/*' ! -path '/var/*' -type f | sort >/tmp/after
grep -Fxvf /tmp/before /tmp/after && exit 1
exit 0
END
unshare -m sh -c 'mount -t proc proc "$0/proc" && mount -t tmpfs tmpfs "$0/dev" && mknod -m 666 "$0/dev/null" c 1 3 &&
	exec chroot "$0" sh /tmp/use.sh' "$root"
rm -rf "$root"/tmp/*

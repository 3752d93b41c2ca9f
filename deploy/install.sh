#!/bin/sh
# install.sh PROGRAM ROOT [GENERATOR]: installs PROGRAM with man pages, completions and licences below ROOT, which is
# /usr/local, a Conda prefix, or usr of a package. GENERATOR is an orcomgo that runs on this machine, where PROGRAM is
# for another one.
set -eu
program=$1 root=$2 generator=${3:-$1}
source=$(dirname "$0")/..
case $generator in */*) ;; *) generator=./$generator ;; esac

mkdir -p "$root/bin" "$root/share/man/man1" "$root/share/bash-completion/completions" "$root/share/zsh/site-functions" \
	"$root/share/fish/vendor_completions.d" "$root/share/doc/orcomgo"
install -m 755 "$program" "$root/bin/orcomgo"
"$generator" man "$root/share/man/man1/"
gzip -9nf "$root"/share/man/man1/orcomgo*.1
"$generator" completion bash >"$root/share/bash-completion/completions/orcomgo"
"$generator" completion zsh >"$root/share/zsh/site-functions/_orcomgo"
"$generator" completion fish >"$root/share/fish/vendor_completions.d/orcomgo.fish"
install -m 644 "$source/LICENSE" "$source/deploy/NOTICE" "$root/share/doc/orcomgo/"
chmod -R u=rwX,go=rX "$root"

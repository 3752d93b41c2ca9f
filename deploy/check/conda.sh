#!/bin/sh
# conda.sh: builds the Conda package with conda-build, and runs its tests. Without conda-build the recipe is rendered by
# Python with Jinja and YAML, its build script is run with a prefix of its own, and then the commands of its tests.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if command -v conda-build >/dev/null; then
	exec conda-build "$here/../conda"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$here/conda_render.py" "$here/../conda/meta.yaml" >"$work/commands"
mkdir "$work/prefix" "$work/test"
(cd "$here/../.." && PREFIX="$work/prefix" SRC_DIR="$PWD" bash deploy/conda/build.sh)
export PREFIX="$work/prefix" PATH="$work/prefix/bin:$PATH"
cd "$work/test"
while read -r line; do
	echo "$line"
	sh -c "$line" || { echo "the test of the recipe failed: $line"; exit 1; }
done <"$work/commands"

#!/bin/sh
# Runs the tests of the modules by run.groovy, where Groovy and Java are installed: run.sh BIN
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "$1" && pwd) || exit 1
if ! command -v groovy >/dev/null || ! command -v java >/dev/null; then
	echo "groovy is not installed: the modules for nf-core were not run"
	exit 0
fi
JAVA_HOME=$(dirname "$(dirname "$(readlink -f "$(command -v java)")")")
export JAVA_HOME
cd "$here/.." && exec groovy test/run.groovy "$bin" ../../testdata modules/nf-core/orcomgo/*/tests/main.nf.test

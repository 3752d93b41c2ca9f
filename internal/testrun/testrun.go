// Package testrun says how the tests run: usually (make test), with much less data (go test -short, the race detector, an emulated
// processor), or for as long as it takes (make test-long). Only tests import it.
package testrun

import (
	"os"
	"testing"
)

// Short reports whether tests take little data, as everything takes many times as long: go test -short, the race detector, or an
// emulated processor.
func Short() bool { return Race || testing.Short() || Emulated() }

// Emulated reports whether the processor is emulated, as in make test-arm64, which sets ORCOMGO_EMULATED.
func Emulated() bool { return os.Getenv("ORCOMGO_EMULATED") != "" }

// Long reports whether this is make test-long, which sets ORCOMGO_LONG.
func Long() bool { return os.Getenv("ORCOMGO_LONG") != "" }

// Pick returns short, usual or long, whichever the tests run with.
func Pick[T any](short, usual, long T) T {
	switch {
	case Long():
		return long
	case Short():
		return short
	default:
		return usual
	}
}

// skipIf skips a test, or what is left of it, for a reason.
func skipIf(t testing.TB, cond bool, reason string) {
	if t.Helper(); cond {
		t.Skip(reason)
	}
}

// OnlyLong skips a test, or what is left of it, except in make test-long.
func OnlyLong(t testing.TB) { skipIf(t, !Long(), "make test-long runs it; ORCOMGO_LONG is not set") }

// NotShort skips a test, or what is left of it, where tests take little data.
func NotShort(t testing.TB) {
	skipIf(t, Short(), "takes long under the race detector and wherever else tests are short")
}

// NoRace skips a test under the race detector. Such a test has one goroutine, or runs nothing side by side that others don't.
func NoRace(t testing.TB) { skipIf(t, Race, "shows no races that other tests don't") }

// NotEmulated skips a test where the processor is emulated, for a reason.
func NotEmulated(t testing.TB, reason string) {
	skipIf(t, Emulated(), "on an emulated processor "+reason)
}

// Data returns the folder of real runs that ORCOMGO_DATA names, and skips a test where it names none.
func Data(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("ORCOMGO_DATA")
	skipIf(t, dir == "", "ORCOMGO_DATA, the absolute path of a folder of real runs, is not set")
	return dir
}

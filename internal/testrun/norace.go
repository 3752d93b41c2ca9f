//go:build !race

package testrun

// Race is true under the race detector.
const Race = false

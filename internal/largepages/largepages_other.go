//go:build !linux

package largepages

// Ask does nothing here: large pages cannot be asked for.
func Ask[T any](s []T) []T { return s }

// AskForHeap does nothing.
func AskForHeap(int) {}

//go:build !linux

package bwt

// hugeSlice is make, where large pages cannot be asked for.
func hugeSlice[T any](n int) []T { return make([]T, n) }

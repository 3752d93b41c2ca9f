// Package transform computes the Burrows-Wheeler transform on a GPU, with the same bytes as package bwt.
package transform

import "errors"

// ErrNoGPU reports that a GPU was asked of a program that has no code for GPUs.
var ErrNoGPU = errors.New("this program was built without GPU support")

// GPU is an open GPU, for one call at a time.
type GPU interface {
	// TransformSampled is bwt.Transform, with the distance of the starting points. It also writes where the suffixes of the ranks every-1,
	// 2*every-1, ... begin to samples.
	TransformSampled(dst, text []byte, step int, starts []uint32, every int, samples []uint32) error
	Close() error
}

//go:build !unix

package vfs

import "errors"

// OpenFIFO is not supported.
func OpenFIFO(path string, _ <-chan struct{}) (*File, error) {
	return nil, withPath(path, unsupported(errors.New("FIFOs can't be written")))
}

func makeFIFO(string) error { return unsupported(errors.New("there are no FIFOs")) }

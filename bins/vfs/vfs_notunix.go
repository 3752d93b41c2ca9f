//go:build !unix

package vfs

import (
	"errors"
	"os"
)

const noFollow = 0

func unlock(*os.File) {}

func lock(f *os.File) (bool, error) { return false, errors.ErrUnsupported }

func syncDir(dir string) error { return nil }

func mapFile(*os.File, int64) (data []byte, unmap func(), err error) {
	return nil, nil, errors.ErrUnsupported
}

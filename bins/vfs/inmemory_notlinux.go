//go:build !linux

package vfs

import (
	"errors"
	"os"
)

func inMemory(*os.File) bool { return false }

func allocate(*os.File, int64, int64) error { return errors.ErrUnsupported }

func copyToFile(*os.File, []byte, int64) error { return errors.ErrUnsupported }

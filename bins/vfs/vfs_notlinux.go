//go:build !linux

package vfs

import (
	"errors"
	"os"
)

func createUnnamed(dir, path string) (*os.File, error) { return nil, errors.ErrUnsupported }

func linkUnnamed(f *os.File, path string) error { return errors.ErrUnsupported }

func renameNew(from, to string) error { return renameByLink(from, to) }

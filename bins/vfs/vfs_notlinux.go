//go:build !linux

package vfs

import (
	"errors"
	"os"
	"time"
)

func createUnnamed(dir, path string) (*os.File, error) { return nil, errors.ErrUnsupported }

func linkUnnamed(f *os.File, path string) error { return errors.ErrUnsupported }

func setTime(_ *os.File, path string, t time.Time) error { return os.Chtimes(path, time.Time{}, t) }

func setPathTime(path string, t time.Time) error { return os.Chtimes(path, time.Time{}, t) }

func forget(*os.File, int64, int64) {}

func renameNew(from, to string) error { return renameByLink(from, to) }

func setLinkTime(string, time.Time) error { return errors.ErrUnsupported }

// HasAttributes reports whether a file or directory has extended attributes or an ACL. Here it always reports false.
func HasAttributes(path string) bool { return false }

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"orcomgo/bins/commit"
	"orcomgo/compress"
)

// writeNew writes a file, and the directory that it is in if there is none. It has its name once it is complete.
func writeNew(path string, content []byte, replace bool) error {
	if _, err := compress.CheckNew(path, replace); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	t, err := commit.NewTemp(path)
	if err != nil {
		return err
	}
	defer t.Discard()
	if _, err := t.Write(content); err != nil {
		return err
	}
	if err := t.Sync(); err != nil {
		return err
	}
	err = t.Install(path, replace)
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%s: %w", path, compress.ErrFileExists)
	}
	return err
}

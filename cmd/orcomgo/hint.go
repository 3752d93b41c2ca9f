package main

import (
	"errors"
	"fmt"

	"orcomgo/bins/commit"
	"orcomgo/compress"
)

// tool is recorded in archives as the program that wrote them.
const tool = "orcomgo " + version

// hint adds to an error the flag that avoids it.
func hint(err error) error {
	if errors.Is(err, commit.ErrNeeded) {
		return err // whatever else it wraps
	}
	if errors.Is(err, commit.ErrExists) || errors.Is(err, compress.ErrFileExists) {
		return fmt.Errorf("%w (--force overwrites)", err)
	}
	return err
}

// hintName is hint for an archive whose name can be chosen.
func hintName(err error) error {
	if errors.Is(err, commit.ErrNeeded) {
		return fmt.Errorf("%w (--as NAME makes another, archive --force of its directory replaces it)", err)
	}
	if errors.Is(err, commit.ErrExists) {
		return fmt.Errorf("%w (--force overwrites, --as NAME makes another)", err)
	}
	return hint(err)
}

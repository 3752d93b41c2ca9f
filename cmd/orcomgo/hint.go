package main

import (
	"errors"
	"fmt"

	"orcomgo/bins/commit"
	"orcomgo/compress"
)

// tool is what archives say wrote them.
const tool = "orcomgo " + version

// hint adds to an error the flag that would get the user past it.
func hint(err error) error {
	if errors.Is(err, commit.ErrExists) || errors.Is(err, compress.ErrFileExists) {
		return fmt.Errorf("%w (--force overwrites)", err)
	}
	return err
}

package vfs_test

import (
	"errors"
	"fmt"

	"orcomgo/bins/vfs"
)

// A test sets Fault and sees what happens when the disk is full.
func Example() {
	vfs.Fault = func(call, path string) error {
		if call == "mkdir" {
			return errors.New("no space left on device")
		}
		return nil
	}
	defer func() { vfs.Fault = nil }()
	fmt.Println(vfs.Mkdir("run", 0o777))
	// Output:
	// run: no space left on device
}

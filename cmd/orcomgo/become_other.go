//go:build !unix

package main

import "errors"

// execProgram can't be done where a process can't be replaced.
func execProgram(string) error {
	return errors.New("handing over to a GPU needs a Unix system")
}

//go:build !unix

package main

import "errors"

// execProgram fails where a process can't be replaced.
func execProgram(string, []string) error {
	return errors.New("starting the program for GPUs needs a Unix system")
}

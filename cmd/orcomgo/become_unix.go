//go:build unix

package main

import (
	"os"
	"syscall"
)

// execProgram replaces the process by the program, with the same arguments and this environment. It
// returns only on failure.
func execProgram(program string, environment []string) error {
	return &os.PathError{Op: "exec", Path: program, Err: syscall.Exec(program, append([]string{program}, os.Args[1:]...), environment)}
}

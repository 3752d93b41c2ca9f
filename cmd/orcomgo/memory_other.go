//go:build !linux

package main

// machineMemory returns what to take the machine's memory for where asking is not
// portable; --memory says otherwise.
func machineMemory() uint64 { return 8 << 30 }

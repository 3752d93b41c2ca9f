package main

import (
	"fmt"
	"runtime"
)

// version is the version of the program.
const version = "0.1.0"

func versionText() string {
	device := "CPU only"
	if gpu != nil {
		device = "CPU and CUDA"
	}
	return fmt.Sprintf("orcomgo %s (%s, %s/%s, %s)", version, runtime.Version(), runtime.GOOS, runtime.GOARCH, device)
}

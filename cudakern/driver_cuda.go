//go:build cuda

package cudakern

// #cgo LDFLAGS: -lcuda -Wl,--wrap=cuInit
// #include <cuda.h>
// CUresult start_driver(const char **why);
import "C"

import (
	"fmt"
	"sync"
	"time"
)

// driverTimeout is how long the driver may take to start.
const driverTimeout = 20 * time.Second

// startDriver starts the CUDA driver, which takes 0.1 to 0.2 s, once in a process. All that calls CUDA comes after Count or Probe, which
// call it.
var startDriver = sync.OnceValue(func() error {
	done := make(chan error, 1)
	go func() {
		var why *C.char
		if C.start_driver(&why) == C.CUDA_SUCCESS {
			done <- nil
			return
		}
		text := "the driver does not start"
		if why != nil {
			text = C.GoString(why)
		}
		done <- fmt.Errorf("no usable GPU: %s", text)
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(driverTimeout):
		return fmt.Errorf("no usable GPU: the driver did not answer within %v", driverTimeout)
	}
})

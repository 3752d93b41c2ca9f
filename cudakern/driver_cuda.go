//go:build cuda

package cudakern

// #cgo LDFLAGS: -lcuda -Wl,--wrap=cuInit
// #include <cuda.h>
// CUresult start_driver(int connections, const char **why);
import "C"

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// driverTimeout is how long the driver may take to start.
const driverTimeout = 20 * time.Second

var connections atomic.Int32

// SetConnections says how many connections a context has to its device, at least 1. Streams that share a connection may wait for one
// another. The driver makes 8 by default; on an H200 each takes 6 ms when a context is made and 4 ms when it is destroyed. It must be
// called before the driver starts. The variable CUDA_DEVICE_MAX_CONNECTIONS of the environment takes precedence.
func SetConnections(n int) { connections.Store(int32(n)) }

// startDriver starts the CUDA driver, which takes 0.1 to 0.2 s, once in a process. All that calls CUDA comes after Count or Probe, which
// call it.
var startDriver = sync.OnceValue(func() error {
	done := make(chan error, 1)
	go func() {
		var why *C.char
		if C.start_driver(C.int(connections.Load()), &why) == C.CUDA_SUCCESS {
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

//go:build unix

package vfs

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// fifoPoll is how often OpenFIFO looks whether there is a reader.
const fifoPoll = 10 * time.Millisecond

// OpenFIFO opens a FIFO (named pipe) for writing, once another process has opened it for reading. When stop is closed, which it must be
// in the end, the file is closed: waiting for a reader, to open the FIFO or to take what is written, ends with an error.
func OpenFIFO(path string, stop <-chan struct{}) (*File, error) {
	if err := injectFault("open", path); err != nil {
		return nil, OfPath(path, err)
	}
	for {
		f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if err == nil {
			go func() {
				<-stop
				f.Close()
			}()
			return &File{f: f, path: path}, nil
		}
		if !errors.Is(err, syscall.ENXIO) {
			return nil, OfPath(path, err)
		}
		select {
		case <-stop:
			return nil, OfPath(path, ErrStopped)
		case <-time.After(fifoPoll):
		}
	}
}

func makeFIFO(path string) error { return syscall.Mkfifo(path, 0o600) }

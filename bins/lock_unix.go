//go:build unix

package bins

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Lock makes this process the only one to write an archive to dir, until it calls unlock
// or ends. The error is ErrBusy if there is another.
func Lock(dir string) (unlock func(), err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		d.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s: %w", dir, ErrBusy)
		}
		// Some network file systems have no locks; the run is then on its own.
		return func() {}, nil
	}
	return func() { d.Close() }, nil
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}

//go:build unix

package vfs

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"syscall"
	"time"
)

const (
	noFollow = syscall.O_NOFOLLOW
	noWait   = syscall.O_NONBLOCK // opening a FIFO does not wait for one that writes
)

// lock is own code because github.com/gofrs/flock opens, and makes, a file by its path. Here
// the lock is that of a file that is open already, and that may have no name or another one.
func lock(f *os.File) (bool, error) {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case errors.Is(err, syscall.EINTR):
			continue
		}
		// Some network file systems have no locks, or no server for them.
		return false, unsupported(err)
	}
}

func unlock(f *os.File) { syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

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

// mapFile is Map for a file of so many bytes.
func mapFile(f *os.File, size int64) (data []byte, unmap func(), err error) {
	if size > math.MaxInt {
		return nil, nil, unsupported(syscall.ENOMEM)
	}
	data, err = syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, unsupported(err)
	}
	return data, func() { syscall.Munmap(data) }, nil
}

// umask is that of the process. It is read here, before there are threads, because the system returns it only as it sets another one.
var umask = func() uint32 {
	mask := syscall.Umask(0o077)
	syscall.Umask(mask)
	return uint32(mask)
}()

// OwnerOf returns the owner of a file.
func OwnerOf(info fs.FileInfo) (o Owner, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return o, false
	}
	return Owner{st.Uid, st.Gid}, true
}

// HardLinked returns what two names of one file have in common, if a file has several names.
func HardLinked(info fs.FileInfo) (id FileID, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Nlink < 2 {
		return FileID{}, false
	}
	return FileID{uint64(st.Dev), st.Ino}, true
}

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

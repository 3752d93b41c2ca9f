//go:build !unix

package vfs

import (
	"errors"
	"io/fs"
	"os"
)

const noFollow, noWait = 0, 0

// OpenFIFO is not supported.
func OpenFIFO(path string, _ <-chan struct{}) (*File, error) {
	return nil, OfPath(path, unsupported(errors.New("FIFOs can't be written")))
}

func makeFIFO(string) error { return unsupported(errors.New("there are no FIFOs")) }

func unlock(*os.File) {}

func lock(f *os.File) (bool, error) { return false, errors.ErrUnsupported }

func syncDir(dir string) error { return nil }

func mapFile(*os.File, int64) (data []byte, unmap func(), err error) {
	return nil, nil, errors.ErrUnsupported
}

const umask uint32 = 0

// OwnerOf returns the owner of a file, which there is none of here.
func OwnerOf(fs.FileInfo) (o Owner, ok bool) { return o, false }

// HardLinked returns what two names of one file have in common, if a file has several names.
func HardLinked(fs.FileInfo) (id FileID, ok bool) { return FileID{}, false }

// Package vfs is the layer between the program and the file system: the calls by which
// archives and restored files are read, written, named and removed. It adds two things to
// package os. Errors name the file and the reason and nothing else; and a test can make any
// single call fail, see Fault.
package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Fault, if not nil, is called before every call of this package with the name of the call
// and the path of its file. An error that it returns is returned in place of the call; a
// write writes half of its bytes first. It is for tests, which set it while no file is open.
var Fault func(call, path string) error

func fault(call, path string) error {
	if Fault == nil {
		return nil
	}
	if err := Fault(call, path); err != nil {
		return &fs.PathError{Op: call, Path: path, Err: err}
	}
	return nil
}

// pathError is an error of a call, which names the file and the reason.
type pathError struct {
	path string
	err  error
}

func (e *pathError) Error() string { return e.path + ": " + e.err.Error() }
func (e *pathError) Unwrap() error { return e.err }

// Cause removes the operation and the path from an error of this package or of package os.
func Cause(err error) error {
	var own *pathError
	var path *fs.PathError
	var link *os.LinkError
	var call *os.SyscallError
	switch {
	case errors.As(err, &own):
		return Cause(own.err)
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	case errors.As(err, &call):
		return call.Err
	}
	return err
}

// named returns err as one that names the path, or nil.
func named(path string, err error) error {
	if err == nil {
		return nil
	}
	return &pathError{path, Cause(err)}
}

// unsupported returns an error that wraps errors.ErrUnsupported and its cause.
func unsupported(cause error) error { return fmt.Errorf("%w: %w", errors.ErrUnsupported, cause) }

// File is an open file.
type File struct {
	f    *os.File
	path string
}

// Name returns the path for messages. A file that has no name yet has the one that it will get.
func (f *File) Name() string { return f.path }

// Read implements io.Reader.
func (f *File) Read(p []byte) (int, error) {
	if err := fault("read", f.path); err != nil {
		return 0, named(f.path, err)
	}
	n, err := f.f.Read(p)
	if err != nil && err != io.EOF {
		err = named(f.path, err)
	}
	return n, err
}

// ReadAt implements io.ReaderAt.
func (f *File) ReadAt(p []byte, at int64) (int, error) {
	if err := fault("pread", f.path); err != nil {
		return 0, named(f.path, err)
	}
	n, err := f.f.ReadAt(p, at)
	if err != nil && err != io.EOF {
		err = named(f.path, err)
	}
	return n, err
}

// Write implements io.Writer.
func (f *File) Write(p []byte) (int, error) {
	if err := fault("write", f.path); err != nil {
		n, _ := f.f.Write(p[:len(p)/2])
		return n, named(f.path, err)
	}
	n, err := f.f.Write(p)
	return n, named(f.path, err)
}

// WriteAt implements io.WriterAt.
func (f *File) WriteAt(p []byte, at int64) (int, error) {
	if err := fault("pwrite", f.path); err != nil {
		n, _ := f.f.WriteAt(p[:len(p)/2], at)
		return n, named(f.path, err)
	}
	n, err := f.f.WriteAt(p, at)
	return n, named(f.path, err)
}

// Sync makes the content durable.
func (f *File) Sync() error {
	if err := fault("fsync", f.path); err != nil {
		return named(f.path, err)
	}
	return named(f.path, f.f.Sync())
}

// Stat describes the file.
func (f *File) Stat() (fs.FileInfo, error) {
	if err := fault("fstat", f.path); err != nil {
		return nil, named(f.path, err)
	}
	info, err := f.f.Stat()
	return info, named(f.path, err)
}

// Close closes the file.
func (f *File) Close() error {
	if err := fault("close", f.path); err != nil {
		f.f.Close()
		return named(f.path, err)
	}
	return named(f.path, f.f.Close())
}

// Open opens a file, or a directory, for reading.
func Open(path string) (*File, error) {
	if err := fault("open", path); err != nil {
		return nil, named(path, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, named(path, err)
	}
	return &File{f, path}, nil
}

// Create makes a file that must not exist yet; a symbolic link counts as a file.
func Create(path string) (*File, error) {
	if err := fault("create", path); err != nil {
		return nil, named(path, err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|noFollow, 0o666)
	if err != nil {
		return nil, named(path, err)
	}
	return &File{f, path}, nil
}

// ReadFile returns the content of a file.
func ReadFile(path string) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// Stat describes what path leads to.
func Stat(path string) (fs.FileInfo, error) {
	if err := fault("stat", path); err != nil {
		return nil, named(path, err)
	}
	info, err := os.Stat(path)
	return info, named(path, err)
}

// Lstat describes what has the name path, a symbolic link perhaps.
func Lstat(path string) (fs.FileInfo, error) {
	if err := fault("lstat", path); err != nil {
		return nil, named(path, err)
	}
	info, err := os.Lstat(path)
	return info, named(path, err)
}

// ReadDir lists a directory, sorted by name.
func ReadDir(dir string) ([]fs.DirEntry, error) {
	if err := fault("readdir", dir); err != nil {
		return nil, named(dir, err)
	}
	entries, err := os.ReadDir(dir)
	return entries, named(dir, err)
}

// Mkdir makes a directory.
func Mkdir(dir string) error {
	if err := fault("mkdir", dir); err != nil {
		return named(dir, err)
	}
	return named(dir, os.Mkdir(dir, 0o777))
}

// Remove removes a file or an empty directory.
func Remove(path string) error {
	if err := fault("unlink", path); err != nil {
		return named(path, err)
	}
	return named(path, os.Remove(path))
}

// Rename gives a file another name, in place of a file that has it.
func Rename(from, to string) error {
	if err := fault("rename", to); err != nil {
		return named(to, err)
	}
	return named(to, os.Rename(from, to))
}

// RenameNew gives a file another name, which no file may have: else it is fs.ErrExist.
func RenameNew(from, to string) error {
	if err := fault("rename", to); err != nil {
		return named(to, err)
	}
	return named(to, renameNew(from, to))
}

// renameByLink is RenameNew by a second name, for systems without a call of its own.
func renameByLink(from, to string) error {
	switch err := os.Link(from, to); {
	case err == nil:
		return os.Remove(from)
	case errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrNotExist):
		return err
	}
	// A file system without hard links: look, then rename.
	if _, err := os.Lstat(to); err == nil {
		return fs.ErrExist
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(from, to)
}

// SyncDir makes the names in a directory durable.
func SyncDir(dir string) error {
	if err := fault("syncdir", dir); err != nil {
		return named(dir, err)
	}
	return named(dir, syncDir(dir))
}

// CreateUnnamed makes a file without a name in dir, which is gone when the process ends
// unless Link has given it a name. path is the name that it will get, for messages. The
// error wraps errors.ErrUnsupported where the file system or the system can't do that.
func CreateUnnamed(dir, path string) (*File, error) {
	if err := fault("tmpfile", path); err != nil {
		return nil, named(path, err)
	}
	f, err := createUnnamed(dir, path)
	if err != nil {
		return nil, named(path, err)
	}
	return &File{f, path}, nil
}

// Link gives a file of CreateUnnamed a name, which no file may have: else it is fs.ErrExist.
func (f *File) Link(path string) error {
	if err := fault("link", path); err != nil {
		return named(path, err)
	}
	return named(path, linkUnnamed(f.f, path))
}

// Lock locks a file or directory against others that call Lock, until it is closed or the
// process ends. It reports whether it is locked: false means that another has it. The error
// wraps errors.ErrUnsupported where the file system has no locks.
func (f *File) Lock() (bool, error) {
	if err := fault("flock", f.path); err != nil {
		return false, named(f.path, err)
	}
	ok, err := lock(f.f)
	return ok, named(f.path, err)
}

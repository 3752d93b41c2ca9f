// Package vfs is the layer between the program and the file system: the calls by which
// archives and restored files are read, written, named and removed. It differs from package os
// in two ways: errors have the file and the reason and nothing else, and a test can make any
// single call fail (see Fault).
package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"orcomgo/bins/crypt"
)

// Fault, if not nil, is called before every call of this package with the name of the call
// and the path of its file. An error that it returns is returned in place of the call; a
// write writes half of its bytes first. It is for tests, which set it while no file is open.
var Fault func(call, path string) error

// Op is a change of the file system, or a sync, that was carried out.
type Op struct {
	Call       string // as Fault has it
	Path, From string // From is that of a rename
	File       *File  // of calls of a File, and of those that make one
	At         int64  // of a write; -1: after the last one
	Data       []byte // that was written
}

// Record, if not nil, is called after every such call of this package, so that a test can replay them as a power cut leaves them. It is
// set while no file is open.
var Record func(op Op)

// recorded tells Record of an operation, unless it failed.
func recorded(op Op, err error) error {
	if Record != nil && err == nil {
		Record(op)
	}
	return err
}

func injectFault(call, path string) error {
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

// OfPath returns err, which may be one of this package about another path, as an error about path; nil if err is nil.
func OfPath(path string, err error) error {
	if err == nil {
		return nil
	}
	return &pathError{Shown(path), Cause(err)}
}

// call calls f, unless a test makes the call of that name fail. Its error names the path.
func call(name, path string, f func() error) error {
	err := injectFault(name, path)
	if err == nil {
		err = f()
	}
	return OfPath(path, err)
}

// callFor is call for a function with a result.
func callFor[T any](name, path string, f func() (T, error)) (result T, err error) {
	err = call(name, path, func() error {
		result, err = f()
		return err
	})
	return result, err
}

// open is call for one that opens a file.
func open(name, path string, f func() (*os.File, error)) (*File, error) {
	file, err := callFor(name, path, f)
	if err != nil {
		return nil, err
	}
	return &File{f: file, path: path}, nil
}

// unsupported returns an error that wraps errors.ErrUnsupported and its cause.
func unsupported(cause error) error { return fmt.Errorf("%w: %w", errors.ErrUnsupported, cause) }

// File is an open file.
type File struct {
	f       *os.File    // nil of a remote file
	remote  RemoteFile  // or nil
	content *crypt.File // of an encrypted file; or nil
	reader  io.Reader   // of remote or content, for Read
	upload  Upload      // of a file that is sent while it is written; or nil
	path    string
}

// Name returns the path for messages. A file that has no name yet has the one that it will get.
func (f *File) Name() string { return f.path }

// Read implements io.Reader.
func (f *File) Read(p []byte) (int, error) {
	if err := injectFault("read", f.path); err != nil {
		return 0, OfPath(f.path, err)
	}
	read := f.reader
	if read == nil {
		read = f.f
	}
	n, err := read.Read(p)
	if err != nil && err != io.EOF {
		err = OfPath(f.path, err)
	}
	return n, err
}

// ReadAt implements io.ReaderAt.
func (f *File) ReadAt(p []byte, at int64) (int, error) {
	if err := injectFault("pread", f.path); err != nil {
		return 0, OfPath(f.path, err)
	}
	read := io.ReaderAt(f.f)
	switch {
	case f.content != nil:
		read = f.content
	case f.remote != nil:
		read = f.remote
	case f.upload != nil:
		read = f.upload
	}
	n, err := read.ReadAt(p, at)
	if err != nil && err != io.EOF {
		err = OfPath(f.path, err)
	}
	return n, err
}

// Write implements io.Writer.
func (f *File) Write(p []byte) (int, error) {
	if f.content != nil {
		return f.content.Write(p)
	}
	if err := injectFault("write", f.path); err != nil {
		n, _ := f.f.Write(p[:len(p)/2])
		return n, OfPath(f.path, err)
	}
	n, err := f.f.Write(p)
	return n, recorded(Op{Call: "write", File: f, At: -1, Data: p}, OfPath(f.path, err))
}

// WriteAt implements io.WriterAt.
func (f *File) WriteAt(p []byte, at int64) (int, error) {
	if f.content != nil {
		return f.content.WriteAt(p, at)
	}
	if err := injectFault("pwrite", f.path); err != nil {
		n, _ := f.f.WriteAt(p[:len(p)/2], at)
		return n, OfPath(f.path, err)
	}
	n, err := f.f.WriteAt(p, at)
	if f.upload != nil {
		f.upload.Wrote(at, at+int64(n))
	}
	return n, recorded(Op{Call: "pwrite", File: f, At: at, Data: p}, OfPath(f.path, err))
}

// Skip leaves a hole of n bytes where the next ones would be written: they are read as zeros. A hole at the end is there after SetSize.
func (f *File) Skip(n int64) error {
	return call("lseek", f.path, func() error {
		_, err := f.f.Seek(n, io.SeekCurrent)
		return err
	})
}

// Forget makes a hole of n bytes, which nobody will read again, where the system can do that; of an encrypted file, of its whole blocks.
func (f *File) Forget(at, n int64) {
	if f.content != nil {
		at, n = f.content.Blocks(at, n)
	}
	forget(f.f, at, n)
}

// SetSize cuts the file off, or appends a hole.
func (f *File) SetSize(n int64) error {
	return call("ftruncate", f.path, func() error { return f.f.Truncate(n) })
}

// Sync makes the content durable.
func (f *File) Sync() error {
	if f.content != nil {
		if err := f.content.Flush(); err != nil {
			return err
		}
	}
	return recorded(Op{Call: "fsync", File: f}, call("fsync", f.path, f.f.Sync))
}

// SetTime sets the time of the last modification. Later writes change it again.
func (f *File) SetTime(t time.Time) error {
	return call("futimens", f.path, func() error { return setTime(f.f, f.path, t) })
}

// Stat describes the file as it is stored.
func (f *File) Stat() (fs.FileInfo, error) {
	if f.remote != nil {
		return f.remote.Stat(), nil
	}
	return callFor("fstat", f.path, f.f.Stat)
}

// Close closes the file.
func (f *File) Close() error {
	if f.upload != nil {
		f.upload.Abort()
	}
	if err := injectFault("close", f.path); err != nil {
		f.f.Close()
		return OfPath(f.path, err)
	}
	if f.remote != nil {
		return nil
	}
	return OfPath(f.path, f.f.Close())
}

// Map returns the first bytes of the content of the file, which has so many, in memory that the system reads as it is used, and a function
// that frees it. Where the system can't do that, the file is read. Read the memory within ReadMapped: where the file was shortened
// meanwhile, or the disk fails, the process ends otherwise.
func (f *File) Map(size int64) (data []byte, unmap func(), err error) {
	if err := injectFault("mmap", f.path); err != nil {
		return nil, nil, OfPath(f.path, err)
	}
	if size > 0 {
		if f.remote == nil && f.content == nil && f.upload == nil {
			if data, unmap, err := mapFile(f.f, size); err == nil {
				return data, unmap, nil
			}
		}
		data = make([]byte, size)
		_, err = io.ReadFull(io.NewSectionReader(f, 0, size), data)
	}
	return data, func() {}, OfPath(f.path, err)
}

// ReadMapped calls read, which reads the memory that Map returned for the file at path, in the same goroutine or by package
// tasks. Where the system can't read the file for it, read ends there, and the error says so.
func ReadMapped(path string, read func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }: // as runtime.Error says for a fault
			err = OfPath(path, errMapped)
		default:
			panic(cause)
		}
	}()
	return read()
}

var errMapped = errors.New("it can't be read any more: it was shortened meanwhile, or the disk fails")

// Open opens a file, or a directory, for reading.
func Open(path string) (*File, error) {
	if r := remoteOf(path); r != nil {
		return openRemote(r, path)
	}
	return open("open", path, func() (*os.File, error) { return os.Open(path) })
}

// ErrNotRegular is the error of OpenRegular for a directory, a FIFO, a socket or a device.
var ErrNotRegular = errors.New("it is not a regular file")

// OpenRegular is Open for a file that must be a regular one: opening a FIFO would wait for somebody to write to it. The error is
// ErrNotRegular for others.
func OpenRegular(path string) (*File, error) {
	if r := remoteOf(path); r != nil {
		return openRemote(r, path)
	}
	return open("open", path, func() (*os.File, error) {
		info, err := os.Stat(path)
		if err == nil && !info.Mode().IsRegular() {
			err = ErrNotRegular
		}
		if err != nil {
			return nil, err
		}
		f, err := os.OpenFile(path, os.O_RDONLY|noWait, 0)
		if err != nil {
			return nil, err
		}
		if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() { // replaced since
			err = ErrNotRegular
		}
		if err != nil {
			f.Close()
		}
		return f, err
	})
}

// ErrStopped is the error of OpenFIFO if nothing opens the FIFO for reading until it is stopped.
var ErrStopped = errors.New("nothing reads it")

// Create makes a file, its owner's alone, that must not exist yet; a symbolic link counts as a file. It is encrypted as Encrypt says.
func Create(path string) (*File, error) {
	return encrypted(open("create", path, func() (*os.File, error) {
		return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
	}))
}

// ReadFile returns the content of a file, as OpenContent has it.
func ReadFile(path string) ([]byte, error) {
	f, err := OpenContent(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// Stat describes the file at path, after following symbolic links.
func Stat(path string) (fs.FileInfo, error) {
	if r := remoteOf(path); r != nil {
		return callFor("stat", path, func() (fs.FileInfo, error) { return r.Stat(path) })
	}
	return callFor("stat", path, func() (fs.FileInfo, error) { return os.Stat(path) })
}

// Lstat describes the file path itself, even if it is a symbolic link.
func Lstat(path string) (fs.FileInfo, error) {
	if IsRemote(path) {
		return Stat(path)
	}
	return callFor("lstat", path, func() (fs.FileInfo, error) { return os.Lstat(path) })
}

// ReadDir lists a directory, sorted by name.
func ReadDir(dir string) ([]fs.DirEntry, error) {
	if r := remoteOf(dir); r != nil {
		return callFor("readdir", dir, func() ([]fs.DirEntry, error) { return r.ReadDir(dir) })
	}
	return callFor("readdir", dir, func() ([]fs.DirEntry, error) { return os.ReadDir(dir) })
}

// Mkdir makes a directory with permissions, less what the umask removes.
func Mkdir(dir string, permissions fs.FileMode) error {
	if IsRemote(dir) {
		return nil // it is there once something is in it
	}
	return call("mkdir", dir, func() error { return os.Mkdir(dir, permissions) })
}

// FoldsCase reports whether names in a directory, or in the one that it will be made in, are one name if they differ by case only. A test
// has it say so by a fault of the call "foldcase".
func FoldsCase(dir string) bool {
	if injectFault("foldcase", dir) != nil {
		return true
	}
	for ; ; dir = filepath.Dir(dir) {
		f, err := os.CreateTemp(dir, ".orcomgo-case-*")
		if errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
			continue
		}
		if err != nil {
			return false // nothing can be restored there
		}
		f.Close()
		defer os.Remove(f.Name())
		_, err = os.Lstat(filepath.Join(dir, strings.ToUpper(filepath.Base(f.Name()))))
		return err == nil
	}
}

// Remove removes a file or an empty directory.
func Remove(path string) error {
	if r := remoteOf(path); r != nil {
		return call("unlink", path, func() error { return r.Remove(path) })
	}
	return recorded(Op{Call: "unlink", Path: path}, call("unlink", path, func() error { return os.Remove(path) }))
}

// Rename gives a file another name, and replaces a file that has it.
func Rename(from, to string) error {
	return recorded(Op{Call: "rename", Path: to, From: from}, call("rename", to, func() error { return os.Rename(from, to) }))
}

// RenameNew gives a file another name. The error wraps fs.ErrExist if a file has it already.
func RenameNew(from, to string) error {
	return recorded(Op{Call: "rename", Path: to, From: from}, call("rename", to, func() error { return renameNew(from, to) }))
}

// renameByLink is RenameNew by a hard link, for systems without a call that does it.
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
	if IsRemote(dir) {
		return nil
	}
	return recorded(Op{Call: "syncdir", Path: dir}, call("syncdir", dir, func() error { return syncDir(dir) }))
}

// CreateUnnamed makes a file without a name in dir, its owner's alone, which is gone when the process ends
// unless Link has given it a name. path is the name that it will get, for messages. The
// error wraps errors.ErrUnsupported where the file system or the system can't do that. It is encrypted as Encrypt says.
func CreateUnnamed(dir, path string) (*File, error) {
	return encrypted(open("tmpfile", path, func() (*os.File, error) {
		if IsRemote(dir) {
			return CreateForRemote()
		}
		return createUnnamed(dir, path)
	}))
}

// Link gives a file of CreateUnnamed a name. The error wraps fs.ErrExist if a file has it already.
func (f *File) Link(path string) error {
	return recorded(Op{Call: "link", Path: path, File: f}, call("link", path, func() error { return linkUnnamed(f.f, path) }))
}

// Lock locks a file or directory against others that call Lock, until Unlock, until it is closed or
// the process ends. It reports whether it is locked: false means that another process or descriptor has the
// lock. The error wraps errors.ErrUnsupported where the file system has no locks.
func (f *File) Lock() (bool, error) {
	return callFor("flock", f.path, func() (bool, error) { return lock(f.f) })
}

// Unlock ends the lock, even where closing the file fails.
func (f *File) Unlock() { unlock(f.f) }

// FileID is the same for all names of a file, and different for different files.
type FileID struct{ device, number uint64 }

package vfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// Remote is a place of files that the system does not have, such as object storage. Files are put there whole. Paths begin with the scheme
// that it was mounted at. Errors are those of package fs, or say what the place answered.
type Remote interface {
	Open(path string) (RemoteFile, error)
	Stat(path string) (fs.FileInfo, error)
	// ReadDir lists a directory, sorted by name. One that holds nothing does not exist, and has an empty list.
	ReadDir(dir string) ([]fs.DirEntry, error)
	// Put makes the content of from, of so many bytes, the file at path. The error wraps fs.ErrExist if there is one and replace is not set.
	Put(path string, from io.ReaderAt, size int64, replace bool) error
	Remove(path string) error
}

// Sender is a Remote to which a file can be sent while it is written.
type Sender interface {
	// Send begins to put the content of from, which is empty, at a path. With kept > 0, that many bytes stay in from: others are given to
	// forget once the remote has them.
	Send(path string, from io.ReaderAt, kept int64, forget func(at, n int64)) Upload
}

// Upload is a file that is being put. Its methods are those of one goroutine at a time, but for Abort.
type Upload interface {
	// Wrote says that these bytes of the content are there now, and all before them.
	Wrote(from, to int64)
	// ReadAt reads the content, wherever it is.
	ReadAt(p []byte, at int64) (int, error)
	// Put is Remote.Put, of so many bytes.
	Put(size int64, replace bool) error
	// Abort removes what was sent, unless Put has put it.
	Abort()
}

// RemoteFile is an open file of a Remote. ReadAt is safe for concurrent use.
type RemoteFile interface {
	io.ReaderAt
	Stat() fs.FileInfo
	// Fetch has the n bytes from a place on, which are a few MB at most, at hand for those who read them soon. Errors are told then.
	Fetch(at, n int64)
}

var remotes sync.Map // of Remote, by scheme

// Mount makes the files of a remote those whose paths begin with scheme and ":/", as in https://host/path. It is called before other
// functions of this package.
func Mount(scheme string, r Remote) { remotes.Store(scheme, r) }

// remoteOf returns the remote that a path leads to, or nil. Packages join and clean paths, so only one slash follows the scheme.
func remoteOf(path string) Remote {
	scheme, _, found := strings.Cut(path, ":/")
	if r, mounted := remotes.Load(scheme); found && mounted {
		return r.(Remote)
	}
	return nil
}

// given is a remote of one file, and the file.
type given struct {
	io.ReaderAt
	info *RemoteInfo
}

// Give mounts a remote of one file, of so many bytes that r reads, safe for concurrent use, at a path as scheme://-/NAME. It may be opened
// until forget is called.
func Give(path string, r io.ReaderAt, size int64) (forget func()) {
	scheme, _, _ := strings.Cut(path, ":/")
	Mount(scheme, given{r, &RemoteInfo{Path: filepath.Clean(path), Length: size}})
	return func() { remotes.Delete(scheme) }
}

func (g given) Open(path string) (RemoteFile, error) {
	if filepath.Clean(path) != g.info.Path {
		return nil, fs.ErrNotExist
	}
	return openGiven(g), nil
}

func (g given) Stat(path string) (fs.FileInfo, error) {
	switch filepath.Clean(path) {
	case g.info.Path:
		return g.info, nil
	case filepath.Dir(g.info.Path):
		return &RemoteInfo{Path: path, Dir: true}, nil
	}
	return nil, fs.ErrNotExist
}

func (g given) ReadDir(string) ([]fs.DirEntry, error)      { return []fs.DirEntry{g.info}, nil }
func (g given) Put(string, io.ReaderAt, int64, bool) error { return errors.ErrUnsupported }
func (g given) Remove(string) error                        { return errors.ErrUnsupported }

// openGiven is the file of a given.
type openGiven given

func (g openGiven) Stat() fs.FileInfo { return g.info }
func (g openGiven) Fetch(at, n int64) {}

// Shown returns a path for messages: one of a remote with both slashes after the scheme.
func Shown(path string) string {
	if remoteOf(path) == nil {
		return path
	}
	scheme, rest, _ := strings.Cut(path, ":/")
	return scheme + "://" + strings.TrimPrefix(rest, "/")
}

// IsRemote reports whether a path is one of files that the system does not have.
func IsRemote(path string) bool { return remoteOf(path) != nil }

// openRemote opens a file of a remote.
func openRemote(r Remote, path string) (*File, error) {
	f, err := callFor("open", path, func() (RemoteFile, error) { return r.Open(path) })
	if err != nil {
		return nil, err
	}
	return &File{remote: f, reader: io.NewSectionReader(f, 0, f.Stat().Size()), path: Shown(path)}, nil
}

// TempDir is where CreateForRemote makes files; "" for the system's directory.
var TempDir string

// CreateForRemote makes a file on this machine, without a name, that Put takes to a remote.
func CreateForRemote() (*os.File, error) {
	f, err := os.CreateTemp(TempDir, "orcomgo-*")
	if err == nil {
		os.Remove(f.Name()) // where the system does not allow that, it stays until somebody tidies up
	}
	return f, err
}

// SendEarly has the content of a new file, which Put will take to the path that it will get, sent while it is written by WriteAt, if the
// remote can do that. Of it, about kept bytes stay on this machine, where it can give back the room of others; 0: all. abort ends it, as
// Close does.
func (f *File) SendEarly(kept int64) (abort func()) {
	to, ok := remoteOf(f.path).(Sender)
	if !ok {
		return func() {}
	}
	if runtime.GOOS != "linux" { // see forget
		kept = 0
	}
	f.upload = to.Send(f.path, f.f, kept, func(at, n int64) { forget(f.f, at, n) })
	if e := f.Envelope(); e != nil {
		f.EncryptAs(e) // so that what is stored is sent
	}
	return f.upload.Abort
}

// Put makes the content of the file the one at path, which is remote. The error wraps fs.ErrExist if there is one and replace is not set.
func (f *File) Put(path string, replace bool) error {
	return call("put", path, func() error {
		info, err := f.f.Stat()
		if err != nil {
			return err
		}
		if f.upload != nil {
			return f.upload.Put(info.Size(), replace)
		}
		return remoteOf(path).Put(path, f.f, info.Size(), replace)
	})
}

// MostFetched is how many bytes are not fetched before they are read: remotes don't keep so many.
const MostFetched = 8 << 20

// Fetch is RemoteFile.Fetch. It does nothing for a file that is not remote, or for MostFetched bytes.
func (f *File) Fetch(at, n int64) {
	switch {
	case f.remote == nil, n <= 0, n >= MostFetched:
	case f.content == nil:
		f.remote.Fetch(at, n)
	default:
		f.content.ReadAt(make([]byte, n), at)
	}
}

// IsRemote reports whether the system does not have the file.
func (f *File) IsRemote() bool { return f.remote != nil }

// RemoteInfo describes a file or a directory of a remote.
type RemoteInfo struct {
	Path     string
	Length   int64
	Modified time.Time
	Dir      bool
}

// The methods are those of fs.FileInfo and fs.DirEntry.

func (i *RemoteInfo) Name() string               { return filepath.Base(i.Path) }
func (i *RemoteInfo) Size() int64                { return i.Length }
func (i *RemoteInfo) ModTime() time.Time         { return i.Modified }
func (i *RemoteInfo) IsDir() bool                { return i.Dir }
func (i *RemoteInfo) Sys() any                   { return nil }
func (i *RemoteInfo) Type() fs.FileMode          { return i.Mode().Type() }
func (i *RemoteInfo) Info() (fs.FileInfo, error) { return i, nil }
func (i *RemoteInfo) Mode() fs.FileMode {
	if i.Dir {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

package storage

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sync"

	"orcomgo/bins/vfs"
)

// Piped is the path of an archive of one file on standard input or output.
const Piped = "pipe://-/archive.cdna"

// pipe is the remote of Piped. What is read is kept in a file without a name, since archives are read from their end.
type pipe struct {
	in    io.Reader
	out   io.Writer
	once  sync.Once
	input *spooled
	err   error
	put   *vfs.RemoteInfo // what was put
}

// spooled is a file on this machine.
type spooled struct {
	*os.File
	info vfs.RemoteInfo
}

func (s *spooled) Stat() fs.FileInfo { return &s.info }

// MountPipe makes what is read from in the file Piped of package vfs, and writes to out what is put there.
func MountPipe(in io.Reader, out io.Writer) { vfs.Mount("pipe", &pipe{in: in, out: out}) }

// spool reads all of the input.
func (p *pipe) spool() (*spooled, error) {
	p.once.Do(func() {
		f, err := vfs.CreateForRemote()
		if err != nil {
			p.err = err
			return
		}
		n, err := io.Copy(f, p.in)
		p.input, p.err = &spooled{f, vfs.RemoteInfo{Path: clean(Piped), Length: n}}, err
	})
	return p.input, p.err
}

// Open implements vfs.Remote.
func (p *pipe) Open(name string) (vfs.RemoteFile, error) {
	if p.in == nil || clean(name) != clean(Piped) {
		return nil, fs.ErrNotExist
	}
	s, err := p.spool()
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Stat implements vfs.Remote.
func (p *pipe) Stat(name string) (fs.FileInfo, error) {
	if clean(name) == path.Dir(clean(Piped)) {
		return &vfs.RemoteInfo{Path: clean(name), Dir: true}, nil
	}
	if p.put != nil && clean(name) == p.put.Path {
		return p.put, nil
	}
	f, err := p.Open(name)
	if err != nil {
		return nil, err
	}
	return f.Stat(), nil
}

// ReadDir implements vfs.Remote.
func (p *pipe) ReadDir(dir string) ([]fs.DirEntry, error) {
	if p.in == nil || clean(dir) != path.Dir(clean(Piped)) {
		return nil, nil
	}
	s, err := p.spool()
	if err != nil {
		return nil, err
	}
	return []fs.DirEntry{&s.info}, nil
}

// Put implements vfs.Remote.
func (p *pipe) Put(name string, from io.ReaderAt, size int64, _ bool) error {
	if path.Ext(name) != path.Ext(Piped) {
		return fmt.Errorf("only a %s file can be written to standard output", path.Ext(Piped))
	}
	p.put = &vfs.RemoteInfo{Path: clean(name), Length: size}
	_, err := io.Copy(p.out, io.NewSectionReader(from, 0, size))
	return err
}

// Remove implements vfs.Remote.
func (p *pipe) Remove(string) error { return nil }

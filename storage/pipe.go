package storage

import (
	"fmt"
	"io"
	"io/fs"
	"path"

	"orcomgo/bins/vfs"
)

// Piped is the path of an archive of one file on standard input or output.
const Piped = "pipe://-/archive.cdna"

// Spool makes what is read from in the file Piped of package vfs. It is kept in a file without a name, since archives are read from
// their end.
func Spool(in io.Reader) error {
	f, err := vfs.CreateForRemote()
	if err != nil {
		return err
	}
	n, err := io.Copy(f, in)
	vfs.Give(Piped, f, n)
	return err
}

// pipe is the remote of Piped.
type pipe struct {
	out io.Writer
	put *vfs.RemoteInfo // what was put
}

// MountPipe has written to out what is put at Piped.
func MountPipe(out io.Writer) { vfs.Mount("pipe", &pipe{out: out}) }

func (p *pipe) Stat(name string) (fs.FileInfo, error) {
	switch {
	case clean(name) == path.Dir(clean(Piped)):
		return &vfs.RemoteInfo{Path: clean(name), Dir: true}, nil
	case p.put != nil && clean(name) == p.put.Path:
		return p.put, nil
	}
	return nil, fs.ErrNotExist
}

func (p *pipe) Put(name string, from io.ReaderAt, size int64, _ bool) error {
	if path.Ext(name) != path.Ext(Piped) {
		return fmt.Errorf("only a %s file can be written to standard output", path.Ext(Piped))
	}
	p.put = &vfs.RemoteInfo{Path: clean(name), Length: size}
	_, err := io.Copy(p.out, io.NewSectionReader(from, 0, size))
	return err
}

func (p *pipe) Open(string) (vfs.RemoteFile, error)   { return nil, fs.ErrNotExist }
func (p *pipe) ReadDir(string) ([]fs.DirEntry, error) { return nil, nil }
func (p *pipe) Remove(string) error                   { return nil }

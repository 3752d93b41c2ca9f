package archive

import (
	"bytes"
	"errors"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	"orcomgo/bins/commit"
	"orcomgo/bins/vfs"
	"orcomgo/compress/parity"
	"orcomgo/internal/testrun"
)

// disk is what the operations of a file system leave on a disk when the power is cut: what was synced, and any part of what was not, in any
// order.
type disk struct {
	files map[*vfs.File]*diskContent
	names map[string]*diskContent // that are durable
	open  []vfs.Op                // changes of names since they were synced
}

// diskContent is a file.
type diskContent struct {
	bytes []byte   // that are durable
	open  []vfs.Op // writes since the file was synced
	end   int64    // where the next write without a place is
}

// add takes the next operation.
func (d *disk) add(op vfs.Op) {
	c := d.files[op.File]
	if c == nil && op.File != nil {
		c = new(diskContent)
		d.files[op.File] = c
	}
	switch op.Call {
	case "write", "pwrite":
		op.Data = bytes.Clone(op.Data)
		if op.At < 0 {
			op.At = c.end
			c.end += int64(len(op.Data))
		}
		c.open = append(c.open, op)
	case "fsync":
		for _, w := range c.open {
			c.bytes = written(c.bytes, w)
		}
		c.open = nil
	case "syncdir":
		for _, o := range d.open {
			d.rename(d.names, o)
		}
		d.open = nil
	default:
		d.open = append(d.open, op)
	}
}

// written returns b after a write.
func written(b []byte, w vfs.Op) []byte {
	if end := int(w.At) + len(w.Data); end > len(b) {
		b = append(b, make([]byte, end-len(b))...)
	}
	copy(b[w.At:], w.Data)
	return b
}

// rename changes names as an operation does.
func (d *disk) rename(names map[string]*diskContent, op vfs.Op) {
	switch op.Call {
	case "link":
		names[op.Path] = d.files[op.File]
	case "unlink":
		delete(names, op.Path)
	case "rename":
		if c := names[op.From]; c != nil {
			names[op.Path] = c
			delete(names, op.From)
		}
	}
}

// cut writes to dir what may be left if the power is cut now. kept says of each open operation whether it reached the disk.
func (d *disk) cut(t *testing.T, dir string, kept func() bool, rng *rand.Rand) {
	t.Helper()
	names := maps.Clone(d.names)
	for _, op := range d.open { // a journal keeps the order of changes of names, up to some point
		if !kept() {
			break
		}
		d.rename(names, op)
	}
	old, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range old {
		os.Remove(filepath.Join(dir, e.Name()))
	}
	for path, c := range names {
		b := bytes.Clone(c.bytes)
		for _, i := range rng.Perm(len(c.open)) {
			if w := c.open[i]; kept() {
				b = written(b, w)
			} else if kept() { // torn
				w.Data = w.Data[:rng.Intn(len(w.Data)+1)]
				b = written(b, w)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(path)), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// recordedOps returns the operations of f.
func recordedOps(t *testing.T, f func()) (ops []vfs.Op) {
	vfs.Record = func(op vfs.Op) {
		op.Data = bytes.Clone(op.Data)
		ops = append(ops, op)
	}
	defer func() { vfs.Record = nil }()
	f()
	return ops
}

// TestPowerCut cuts the power after every operation by which an archive replaces another one, and by which one is repaired: the old one or
// the new one is whole.
func TestPowerCut(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	random := make([]byte, 3000)
	rng.Read(random)
	write := func(dir string, shared []byte) {
		w, err := Create(dir, "x", commit.Forced(true, nil), true)
		if err != nil {
			t.Fatal(err)
		}
		var m Manifest
		if err := w.AddShared(&m, shared); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.End(&m), w.Commit(&m, ParityOptions{Share: 0.05})); err != nil {
			t.Fatal(err)
		}
	}
	for name, change := range map[string]func(dir string){
		"replaced": func(dir string) { write(dir, random[1000:]) },
		"repaired": func(dir string) {
			e, err := commit.One(dir)
			if err != nil {
				t.Fatal(err)
			}
			if list, err := RepairArchive(e, parity.RepairOptions{}); err != nil || !list[0].OK {
				t.Fatalf("%+v, %v", list, err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, after := t.TempDir(), t.TempDir()
			write(dir, random[:1000])
			bulk := filepath.Join(dir, "x"+BulkSuffix)
			if name == "repaired" {
				b, err := os.ReadFile(bulk)
				if err == nil {
					b[200] ^= 1
					err = os.WriteFile(bulk, b, 0o666)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			d := &disk{files: make(map[*vfs.File]*diskContent), names: make(map[string]*diskContent)}
			for _, ext := range []string{BulkSuffix, MetaSuffix, commit.ParityExt} {
				b, err := os.ReadFile(filepath.Join(dir, "x"+ext))
				if err != nil {
					t.Fatal(err)
				}
				d.names[filepath.Join(dir, "x"+ext)] = &diskContent{bytes: b}
			}
			ops := recordedOps(t, func() { change(dir) })
			if len(ops) < 6 {
				t.Fatalf("%d operations", len(ops))
			}
			for i, op := range ops {
				d.add(op)
				for draw := range testrun.Pick(4, 12, 300) {
					kept := func() bool { return draw == 0 || draw > 1 && rng.Intn(4) > 0 }
					d.cut(t, after, kept, rng)
					r, err := openPath(after)
					if err != nil {
						t.Fatalf("after operation %d, %s of %s: %v", i, op.Call, op.Path, err)
					}
					got, err := r.Read(r.Manifest().Shared[0], nil, "shared")
					if err != nil || !bytes.Equal(got, random[:1000]) && !bytes.Equal(got, random[1000:]) {
						t.Fatalf("after operation %d, %s of %s: %d bytes, %v", i, op.Call, op.Path, len(got), err)
					}
					r.Close()
				}
			}
		})
	}
}

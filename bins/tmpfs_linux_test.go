package bins

import (
	"bytes"
	"errors"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"orcomgo/bins/commit"
	"orcomgo/bins/crypt"
	"orcomgo/bins/record"
	"orcomgo/bins/vfs"
	"orcomgo/internal/tasks"
)

// largeBlocks makes encoded blocks of 6 MiB of sequences, and of coded qualities in one array, as a GPU returns them. All have the same
// reads.
func largeBlocks(t *testing.T, count int) []Encoded {
	t.Helper()
	const records, length = 24 << 10, 1024
	b := &Block{Records: records, TextLen: records * 2 * length, Lengths: record.Lengths{Fixed: length},
		Bins: []Bin{{Signature: 3, Reads: records, Bases: records * length}}, Place: make([]uint32, records), Names: []byte{},
		Packed: make([]byte, records*length/4)}
	rand.New(rand.NewSource(9)).Read(b.Packed)
	for k := range records {
		b.Order = append(b.Order, uint32(k))
	}
	quals := make([]byte, records*length)
	for k := range quals {
		quals[k] = '!' + b.Packed[k/4]>>(k%4*2)&3
	}
	_, b.CodedQuals = codedColumns(t, &Block{Quals: quals})
	encoded := make([]Encoded, count)
	for i := range encoded {
		b.FirstRecord = uint64(i * records)
		if err := EncodeBlock(&encoded[i], b, side(2)); err != nil {
			t.Fatal(err)
		}
	}
	return encoded
}

// TestMemoryFiles: in a file system that is in memory the same is written by one goroutine, by several, and on a disk. Where there is no
// room, the error says so, and nothing is left.
func TestMemoryFiles(t *testing.T) {
	blocks := largeBlocks(t, 4)
	memory := t.TempDir()
	if err := syscall.Mount("tmpfs", memory, "tmpfs", 0, "size=100m"); err != nil {
		t.Skipf("mounting a tmpfs: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(memory, syscall.MNT_DETACH) })
	write := func(dir string, threads int) error {
		w, err := Create(dir, "a", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Abort()
		for i := range blocks {
			w.Reserve(&blocks[i])
		}
		errs := make([]error, len(blocks))
		tasks.Each(len(blocks), threads, func(_, i int) { errs[i] = w.WriteReserved(&blocks[i], oneByOne) })
		if err := errors.Join(errs...); err != nil {
			return err
		}
		return w.Commit(sampleOptions, sampleInputs()[:1])
	}
	var want [2][]byte
	for i, c := range []struct {
		dir     string
		threads int
	}{{t.TempDir(), 1}, {filepath.Join(memory, "one"), 1}, {filepath.Join(memory, "four"), 4}} {
		if err := write(c.dir, c.threads); err != nil {
			t.Fatal(err)
		}
		for k, ext := range []string{commit.BinsDataExt, commit.BinsMetaExt} {
			got, err := os.ReadFile(filepath.Join(c.dir, "a"+ext))
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				want[k] = got
			} else if !bytes.Equal(got, want[k]) {
				t.Errorf("%s by %d goroutines: %d other bytes than the %d on a disk", ext, c.threads, len(got), len(want[k]))
			}
		}
		if c.threads == 1 && i > 0 {
			os.RemoveAll(c.dir)
		}
	}
	size := len(want[0]) + len(want[1])
	if err := syscall.Mount("tmpfs", memory, "tmpfs", syscall.MS_REMOUNT, "size="+strconv.Itoa(size*3/2)); err != nil {
		t.Fatal(err)
	}
	full := filepath.Join(memory, "full")
	if err := write(full, 4); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("without room: %v", err)
	}
	if _, err := os.Stat(full); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something is left: %v", err)
	}
}

// TestForget: what is forgotten takes no room on the disk, encrypted or not, and all before and after it is there.
func TestForget(t *testing.T) {
	e, err := crypt.New(crypt.Key{9})
	if err != nil {
		t.Fatal(err)
	}
	text := make([]byte, 3<<20)
	rand.New(rand.NewSource(2)).Read(text)
	const at, n = 123_456, 2 << 20
	for _, vfs.Encrypt = range []*crypt.Envelope{e, nil} {
		s := newScratch(filepath.Join(t.TempDir(), "x"), new(budget))
		if _, err := s.WriteAt(text, 0); err != nil {
			t.Fatal(err)
		}
		blocks := func() int64 {
			info, err := s.file.Stat()
			if err != nil || s.file.Sync() != nil {
				t.Fatal(err)
			}
			return info.Sys().(*syscall.Stat_t).Blocks * 512
		}
		before := blocks()
		s.forget(at+n, 10) // within a block
		s.forget(at, n)
		if freed := before - blocks(); freed < n-200<<10 || freed > n {
			t.Errorf("%d of %d bytes were freed", freed, n)
		}
		for _, r := range [][2]int{{0, at}, {at + n + 10, len(text)}} {
			got := make([]byte, r[1]-r[0])
			if _, err := s.ReadAt(got, int64(r[0])); err != nil || !bytes.Equal(got, text[r[0]:r[1]]) {
				t.Errorf("bytes %d to %d are others: %v", r[0], r[1], err)
			}
		}
		s.Close()
	}
}

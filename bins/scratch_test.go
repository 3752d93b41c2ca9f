package bins

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"orcomgo/bins/commit"
	"orcomgo/bins/record"
	"orcomgo/bins/vfs"
)

// TestScratch writes pieces of a text in any order from several goroutines, with memory for all, some and nothing of it: what is read is
// the text, wherever it is, and memory is taken and given back exactly.
func TestScratch(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	text := make([]byte, 3*pieceLen+pieceLen/2)
	rng.Read(text)
	type part struct{ at, n int }
	var parts []part
	for at := 0; at < len(text); {
		n := min(1+rng.Intn(200_000), len(text)-at)
		parts = append(parts, part{at, n})
		at += n
	}
	for _, limit := range []uint64{0, pieceLen - 1, pieceLen, 3 * pieceLen, 4*pieceLen - 1, 4 * pieceLen, 1 << 40} {
		dir := t.TempDir()
		b := &budget{limit: limit}
		s := newScratch(filepath.Join(dir, "x"), b)
		rng.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		var wait sync.WaitGroup
		for w := range 4 {
			wait.Add(1)
			go func() {
				defer wait.Done()
				for i := w; i < len(parts); i += 4 {
					p := parts[i]
					if n, err := s.WriteAt(text[p.at:p.at+p.n], int64(p.at)); n != p.n || err != nil {
						t.Errorf("WriteAt: %d, %v", n, err)
					}
					if i == 17 && limit == 1<<40 {
						if err := s.spill(); err != nil {
							t.Error(err)
						}
					}
				}
			}()
		}
		wait.Wait()
		wantHeld := uint64(0)
		if limit == 4*pieceLen {
			wantHeld = 4 * pieceLen
		}
		if s.held() != wantHeld || b.used != wantHeld || (s.file == nil) != (wantHeld > 0) {
			t.Errorf("limit %d: %d bytes in memory, %d of the budget are used", limit, s.held(), b.used)
		}
		check := func() {
			t.Helper()
			if size, err := s.Size(); size != int64(len(text)) || err != nil {
				t.Errorf("limit %d: size %d, %v", limit, size, err)
			}
			for range 20 {
				at := rng.Intn(len(text) + 10)
				buf := make([]byte, rng.Intn(3*pieceLen))
				n, err := s.ReadAt(buf, int64(at))
				want := text[min(at, len(text)):min(at+len(buf), len(text))]
				if !bytes.Equal(buf[:n], want) || (err == nil) != (n == len(buf)) || err != nil && err != io.EOF {
					t.Fatalf("limit %d: ReadAt(%d bytes, %d): %d, %v", limit, len(buf), at, n, err)
				}
			}
		}
		check()
		if err := s.spill(); err != nil {
			t.Fatal(err)
		}
		check()
		if s.held() != 0 || b.used != 0 {
			t.Errorf("limit %d: after spill %d bytes are in memory", limit, s.held())
		}
		if got := names(t, dir); len(got) != 0 {
			t.Errorf("files with names: %v", got)
		}
		s.Close()
	}
}

// TestScratchFails: an error of the file is that of the write, and names it; what is in memory can still be read.
func TestScratchFails(t *testing.T) {
	for _, failing := range []string{"tmpfile", "pwrite"} {
		s := newScratch(filepath.Join(t.TempDir(), "x.bdna"), &budget{limit: pieceLen})
		text := bytes.Repeat([]byte("ab"), 1000)
		if _, err := s.WriteAt(text, 0); err != nil {
			t.Fatal(err)
		}
		vfs.Fault = func(call, path string) error {
			if call == failing {
				return syscall.ENOSPC
			}
			return nil
		}
		_, err := s.WriteAt(text, pieceLen)
		vfs.Fault = nil
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "x.bdna (temporary): no space left") {
			t.Errorf("%s: %v", failing, err)
		}
		got := make([]byte, len(text))
		if _, err := s.ReadAt(got, 0); err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s: it reads back as %.20q, %v", failing, got, err)
		}
		s.Close()
	}
}

// TestUnnamed: bins without a name are the bytes that bins with one are, nothing of them is in the directory, and closing the reader
// removes the directories that were made for them.
func TestUnnamed(t *testing.T) {
	for _, memory := range []uint64{0, 3 * pieceLen, 1 << 30} {
		for _, named := range []bool{false, true} {
			parent := t.TempDir()
			a := samples()
			a.write(t, filepath.Join(parent, "named"), "a", false, 2)
			out := filepath.Join(parent, "made", "out")
			if named { // as where files can't be made without a name
				vfs.Fault = func(call, path string) error {
					if call == "tmpfile" {
						return syscall.EOPNOTSUPP
					}
					return nil
				}
			}
			w, err := CreateUnnamed(out, "a", nil, memory, "")
			if err != nil {
				t.Fatal(err)
			}
			var e Encoded
			for _, b := range a.blocks {
				if err := errors.Join(EncodeBlock(&e, clone(b), side(2)), writeBlock(w, &e)); err != nil {
					t.Fatal(err)
				}
			}
			r, err := w.Finish(sampleOptions, sampleInputs(), nil)
			if err != nil {
				t.Fatal(err)
			}
			w.Abort() // does nothing
			if err := errors.Join(r.Lock(), r.Check(t.Context())); err != nil {
				t.Error(err)
			}
			if held := r.Held(); !r.Unnamed() || held > memory || memory == 1<<30 && held == 0 {
				t.Errorf("%d bytes are in memory, of %d", held, memory)
			}
			if err := errors.Join(r.Spill(), r.Check(t.Context()), r.Remove()); err != nil || r.Held() != 0 {
				t.Errorf("after spilling %d bytes are in memory, %v", r.Held(), err)
			}
			for i, ext := range []string{commit.BinsDataExt, commit.BinsMetaExt} {
				want, err := os.ReadFile(filepath.Join(parent, "named", "a"+ext))
				if err != nil {
					t.Fatal(err)
				}
				size, _ := r.unnamed[i].Size()
				got := make([]byte, size)
				if _, err := r.unnamed[i].ReadAt(got, 0); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s differs from the one with a name (%v)", ext, err)
				}
			}
			if left := names(t, out); len(left) != 0 {
				t.Errorf("in the directory: %v", left)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(filepath.Dir(out)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is there: %v", filepath.Dir(out), err)
			}
			vfs.Fault = nil
		}
	}
}

// TestUnnamedFails: after an error nothing is left, and neither is after Abort.
func TestUnnamedFails(t *testing.T) {
	refused := errors.New("an input changed")
	for _, how := range []string{"check", "block order", "abort"} {
		dir := filepath.Join(t.TempDir(), "made")
		w, err := CreateUnnamed(dir, "a", nil, 1<<30, "")
		if err != nil {
			t.Fatal(err)
		}
		inputs := []record.Input{{Name: "x", Mate: -1}}
		switch how {
		case "check":
			w.Check = func() error { return refused }
			if _, err := w.Finish(sampleOptions, inputs, nil); err != refused {
				t.Errorf("Finish: %v", err)
			}
		case "block order":
			b, _ := sample(rand.New(rand.NewSource(1)), 0, 5, 10, false)
			var e Encoded
			if err := errors.Join(EncodeBlock(&e, b, side(1)), writeBlock(w, &e)); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Finish(sampleOptions, inputs, nil); err == nil {
				t.Error("Finish succeeds")
			}
		case "abort":
			w.Abort()
		}
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the directory is there: %v", how, err)
		}
	}
	// What is there already is refused at once.
	dir := t.TempDir()
	tiny(1, 50).write(t, dir, "a", false, 1)
	if _, err := CreateUnnamed(dir, "a", nil, 1<<30, ""); !errors.Is(err, commit.ErrExists) {
		t.Errorf("CreateUnnamed: %v", err)
	}
}

// TestTempDir: what exceeds the memory goes to the directory for temporary files.
func TestTempDir(t *testing.T) {
	for _, c := range []struct {
		temp string
		ok   bool
	}{{"", true}, {t.TempDir(), true}, {filepath.Join(t.TempDir(), "missing"), false}} {
		w, err := CreateUnnamed(t.TempDir(), "a", nil, 0, c.temp)
		if ok := err == nil; ok != c.ok {
			t.Errorf("%q: %v", c.temp, err)
		}
		if err == nil {
			w.Abort()
		}
	}
}

// TestScratchOfManyPieces: memory for many pieces at once, as blocks take it where there are many threads, is counted in pieces, and reads
// back as it was written.
func TestScratchOfManyPieces(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	b := &budget{limit: 100 * pieceLen}
	s := newScratch(filepath.Join(t.TempDir(), "x"), b)
	defer s.Close()
	out := outFile{f: s}
	var want []byte
	for k, n := range []int{3, 20*pieceLen + 5, 100, 17 * pieceLen} {
		text := bytes.Repeat([]byte{byte('a' + k), 'x', byte(k)}, n/3+1)[:n]
		want = append(want, text...)
		if err := out.write([][]byte{text[:n/2], text[n/2:]}, uint64(len(want)-n), side(3)); err != nil {
			t.Fatal(err)
		}
	}
	got := make([]byte, len(want))
	if _, err := s.ReadAt(got, 0); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("it does not read back as it was written, %v", err)
	}
	for _, at := range []int{0, 3, 2*pieceLen - 7, 20*pieceLen - 1, len(want) - 100} {
		if view := s.view(uint64(at), 100); !bytes.Equal(view, want[at:at+100]) && (view != nil || at < 20*pieceLen-1) {
			t.Errorf("at %d the content is not seen as it was written: %q", at, view)
		}
	}
	if view := s.view(uint64(len(want)-99), 100); view != nil {
		t.Errorf("behind the content there is %q", view)
	}
	if pieces := uint64(len(want)+pieceLen-1) / pieceLen; s.held() != pieces*pieceLen || b.used != s.held() {
		t.Errorf("%d bytes are held, %d are used; want %d pieces", s.held(), b.used, pieces)
	}
	if err := s.spill(); err != nil || s.view(0, 100) != nil {
		t.Errorf("what is in a file is seen in memory, %v", err)
	}
}

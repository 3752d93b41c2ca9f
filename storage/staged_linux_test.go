package storage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"orcomgo/bins/crypt"
	"orcomgo/bins/vfs"
	"orcomgo/internal/objectserver"
	"orcomgo/internal/testrun"
)

// staging is a file that is sent while it is written, of which little is kept.
type staging struct {
	t    *testing.T
	f    *vfs.File
	data []byte
	most int64 // bytes that it took on the disk
}

// keptParts is the most parts that a file of staging takes here: the first one, those on their way, and one for what is written at once.
const keptParts = 1 + unsentParts + 1

// beginStaging begins a file with the first bytes, which are written again in the end.
func beginStaging(t *testing.T, path string, data []byte) *staging {
	f, err := vfs.CreateUnnamed(filepath.Dir(path), path)
	if err != nil {
		t.Fatal(err)
	}
	f.SendEarly(partLen)
	return &staging{t: t, f: f, data: data}
}

// write writes bytes from..to-1, as an encrypted file does: what was written last is written again.
func (s *staging) write(from, to int) {
	for ; from < to; from += 1 << 20 {
		b := s.data[max(from-70_000, 0):min(from+1<<20, to)]
		if _, err := s.f.WriteAt(b, int64(max(from-70_000, 0))); err != nil {
			s.t.Fatal(err)
		}
		s.most = max(s.most, s.kept())
	}
}

// kept returns how many bytes the file takes on the disk.
func (s *staging) kept() int64 {
	info, err := s.f.Stat()
	if err != nil {
		s.t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t).Blocks * 512
}

// end writes the rest as archives are ended, what comes first last, and puts all.
func (s *staging) end(path string) error {
	s.data = append(s.data, content(rand.New(rand.NewPCG(9, 9)), int(3*partLen))...)
	gap := len(s.data) - int(3*partLen)
	copy(s.data, "another ID")
	for _, err := range []error{
		writeAt(s.f, s.data[:100], 0), s.f.Sync(), writeAt(s.f, s.data[gap+100:], gap+100), writeAt(s.f, s.data[gap:gap+100], gap), s.f.Sync(),
	} {
		if err != nil {
			s.t.Fatal(err)
		}
	}
	return s.f.Put(path, false)
}

func writeAt(f *vfs.File, b []byte, at int) error {
	_, err := f.WriteAt(b, int64(at))
	return err
}

// read compares some ranges of what was written so far.
func (s *staging) read(r *rand.Rand, written int) error {
	for range 8 {
		at := r.IntN(written)
		got := make([]byte, 1+r.IntN(min(written-at, 6<<20)))
		if _, err := s.f.ReadAt(got, int64(at)); err != nil {
			return err
		}
		if !bytes.Equal(got, s.data[at:at+len(got)]) {
			s.t.Errorf("other bytes at %d", at)
		}
	}
	return nil
}

// smallParts has parts as small as servers take them.
func smallParts(t *testing.T) {
	old := partLen
	partLen = 5 << 20
	t.Cleanup(func() { partLen = old })
}

// left returns what is in a directory beside a file, and what uploads there are.
func left(t *testing.T, p *objectserver.Proxy, dir, file string) (names []string) {
	MountS3(t.Context())
	names, err := objectserver.Uploads(p.URL, "bucket")
	list, listErr := vfs.ReadDir(dir)
	if err = errors.Join(err, listErr); err != nil {
		t.Error(err)
	}
	for _, e := range list {
		if e.Name() != file {
			names = append(names, e.Name())
		}
	}
	return names
}

// TestStaged: of a file that is sent while it is written, little is kept on this machine, and all of it can be read at any time; in the end
// the object has its bytes, and nothing is beside it.
func TestStaged(t *testing.T) {
	p := mounted(t)
	smallParts(t)
	r := rand.New(rand.NewPCG(7, 7))
	data := content(r, 60<<20+4321)
	for _, readers := range [][]crypt.Key{nil, {{9}}} {
		stagedOf(t, p, r, data, readers)
	}

	// Of a file that is given up nothing is left. What a process leaves that is killed goes with the next that is whole.
	const other = "s3://bucket/other/whole"
	data = data[:25<<20]
	s := beginStaging(t, other, bytes.Clone(data))
	s.write(0, len(data))
	s.f.Close()
	if names := left(t, p, "s3://bucket/other", ""); len(names) > 0 {
		t.Errorf("left by one that was given up: %v", names)
	}
	if err := objectserver.Store(p.URL, "bucket/other/whole"+stagedSuffix+"/7", data[:100]); err != nil {
		t.Fatal(err)
	}
	MountS3(t.Context())
	for _, size := range []int{100, int(4 * partLen)} { // without parts, and with some
		s = beginStaging(t, other, bytes.Clone(data[:size]))
		s.write(0, size)
		if err := s.f.Put(other, true); err != nil {
			t.Fatal(err)
		}
		s.f.Close()
		if b, err := vfs.ReadFile(other); err != nil || !bytes.Equal(b, data[:size]) {
			t.Errorf("%d of %d bytes, %v", len(b), size, err)
		}
		if names := left(t, p, "s3://bucket/other", "whole"); len(names) > 0 {
			t.Errorf("left: %v", names)
		}
	}

	// Parts that somebody else replaces or removes are no parts of it, and nothing that is not kept is written again.
	for i, spoil := range []func(s *staging) error{
		func(*staging) error {
			return objectserver.Store(p.URL, "bucket/spoilt/whole"+stagedSuffix+"/2", data[:partLen])
		},
		func(*staging) error { return vfs.Remove("s3://bucket/spoilt/whole" + stagedSuffix + "/2") },
		func(s *staging) error { return writeAt(s.f, []byte("x"), int(2*partLen)) },
	} {
		const path = "s3://bucket/spoilt/whole"
		s = beginStaging(t, path, bytes.Clone(data))
		s.write(0, len(data))
		for range 1000 { // until all parts are there
			if s.kept() > 2*partLen+1<<20 {
				time.Sleep(10 * time.Millisecond)
			}
		}
		if err := spoil(s); err != nil {
			t.Fatal(err)
		}
		if err := s.end(path); err == nil || !strings.Contains(err.Error(), "replaced") && !strings.Contains(err.Error(), "again") {
			b, e := vfs.ReadFile(path)
			t.Errorf("spoilt by %d: %v, %t, %v; kept %d", i, err, bytes.Equal(b, s.data), e, s.kept())
		}
		s.f.Close()
		if names := left(t, p, "s3://bucket/spoilt", ""); len(names) > 0 {
			t.Errorf("left by one that was spoilt: %v", names)
		}
	}
}

// TestStagedVersions: a bucket that keeps what is removed gets no parts as objects.
func TestStagedVersions(t *testing.T) {
	p := mounted(t)
	smallParts(t)
	at, err := url.Parse(p.URL)
	if err != nil {
		t.Fatal(err)
	}
	versions := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(at)
			r.Out.Host = r.In.Host
		},
		ModifyResponse: func(r *http.Response) error {
			if strings.Contains(r.Request.URL.Path, stagedSuffix) && r.Request.Method == http.MethodPut {
				r.Header.Set("X-Amz-Version-Id", "1")
			}
			return nil
		},
	})
	defer versions.Close()
	t.Setenv("AWS_ENDPOINT_URL_S3", versions.URL)
	MountS3(t.Context())
	const path = "s3://bucket/versions/whole"
	s := beginStaging(t, path, content(rand.New(rand.NewPCG(10, 10)), 30<<20))
	defer s.f.Close()
	s.write(0, len(s.data))
	received := p.Received.Load()
	if err := s.end(path); err != nil {
		t.Fatal(err)
	}
	if received > int64(len(s.data))+largeParts*partLen || s.most < 30<<20 {
		t.Errorf("%d bytes were sent, %d kept", received, s.most)
	}
	if b, err := vfs.ReadFile(path); err != nil || !bytes.Equal(b, s.data) {
		t.Errorf("%d of %d bytes, %v", len(b), len(s.data), err)
	}
	if names := left(t, p, filepath.Dir(path), "whole"); len(names) > 0 {
		t.Errorf("left: %v", names)
	}
}

// stagedOf is TestStaged of data, encrypted if it has readers.
func stagedOf(t *testing.T, p *objectserver.Proxy, r *rand.Rand, data []byte, readers []crypt.Key) {
	if len(readers) > 0 {
		e, err := crypt.New(readers...)
		if err != nil {
			t.Fatal(err)
		}
		vfs.Encrypt = e
		defer func() { vfs.Encrypt = nil }()
	}
	path := fmt.Sprintf("s3://bucket/staged%d/whole", len(readers))
	s := beginStaging(t, path, bytes.Clone(data))
	defer s.f.Close()
	s.write(0, 40<<20)
	if err := s.read(r, 40<<20); err != nil {
		t.Error(err)
	}
	s.write(40<<20, len(data))
	if err := s.read(r, len(data)); err != nil {
		t.Error(err)
	}
	if s.most > keptParts*partLen {
		t.Errorf("%d bytes took %d on the disk, want %d at most", len(data), s.most, keptParts*partLen)
	}
	if list, err := vfs.ReadDir(filepath.Dir(path)); err != nil || len(list) != 1 || !list[0].IsDir() {
		t.Errorf("%v is there before the object is whole: %v", list, err)
	}
	received := p.Received.Load()
	if err := s.end(path); err != nil {
		t.Fatal(err)
	}
	if n := p.Received.Load() - received; n > (keptParts+5)*partLen {
		t.Errorf("%d of %d bytes were sent in the end", n, len(data))
	}
	f, err := vfs.OpenContent(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(f)
	if err != nil || !bytes.Equal(b, s.data) || (f.Envelope() != nil) != (len(readers) > 0) {
		t.Errorf("%d of %d bytes, %v", len(b), len(s.data), err)
	}
	if names := left(t, p, filepath.Dir(path), "whole"); len(names) > 0 {
		t.Errorf("left: %v", names)
	}
}

// TestStagedFaults: whatever happens between client and server, what is read of a file that is not kept is right, and so is the object, or
// it is not there; nothing is left beside it.
func TestStagedFaults(t *testing.T) {
	p := mounted(t)
	smallParts(t)
	r := rand.New(rand.NewPCG(8, 8))
	data := content(r, 30<<20+99)
	right, hit := 0, 0
	draws := testrun.Pick(2, 4, 100)
	for draw := range draws {
		const path = "s3://bucket/f/whole"
		var mu sync.Mutex
		fault := func() string {
			mu.Lock()
			defer mu.Unlock()
			if r.IntN(7) > 0 {
				return ""
			}
			hit++
			return objectserver.Faults[r.IntN(len(objectserver.Faults))]
		}
		p.Fault.Store(&fault)
		s := beginStaging(t, path, bytes.Clone(data))
		s.write(0, len(data))
		readErr := s.read(rand.New(rand.NewPCG(8, uint64(draw))), len(data))
		err := s.end(path)
		s.f.Close()
		none := func() string { return "" }
		p.Fault.Store(&none)
		MountS3(t.Context())
		there, lookErr := vfs.ReadFile(path)
		switch {
		case lookErr != nil && !errors.Is(lookErr, fs.ErrNotExist), lookErr == nil && !bytes.Equal(there, s.data):
			t.Fatalf("draw %d: %d of %d bytes are there, %v", draw, len(there), len(s.data), lookErr)
		case err == nil && lookErr != nil:
			t.Fatalf("draw %d: it was put, and is not there", draw)
		case err == nil && readErr == nil:
			right++
		}
		for _, name := range left(t, p, "s3://bucket/f", "whole") {
			if name != "f/whole" { // an upload without parts, of which the server's answer was lost
				t.Errorf("draw %d left %v; %v", draw, name, err)
			}
		}
		if lookErr == nil {
			if err := vfs.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d of %d right, %d faults", right, draws, hit)
	if right < draws/2 || hit < draws {
		t.Errorf("%d of %d right, %d faults", right, draws, hit)
	}
}

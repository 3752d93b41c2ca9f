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
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"orcomgo/bins/vfs"
	"orcomgo/internal/objectserver"
	"orcomgo/internal/testrun"
)

// mounted returns the proxy between the test and a server whose bucket is s3://bucket/.
func mounted(t *testing.T) *objectserver.Proxy {
	p := objectserver.NewProxy(t, objectserver.Start(t))
	t.Setenv("AWS_ENDPOINT_URL_S3", p.URL)
	t.Setenv("AWS_ACCESS_KEY_ID", "me")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret12")
	wait := firstWait
	firstWait = time.Millisecond
	t.Cleanup(func() { firstWait = wait })
	MountS3(t.Context())
	return p
}

// put makes data an object.
func put(path string, data []byte, replace bool) error {
	f, err := vfs.CreateUnnamed(filepath.Dir(path), path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Put(path, replace)
}

// putEarly is put of what is sent while it is written; some of it is written again later, as are the first bytes in the end.
func putEarly(path string, data []byte, r *rand.Rand) error {
	f, err := vfs.CreateUnnamed(filepath.Dir(path), path)
	if err != nil {
		return err
	}
	defer f.Close()
	f.SendEarly(0)
	for at := 0; at < len(data); {
		n := min(1+r.IntN(1<<20), len(data)-at)
		if _, err := f.WriteAt(content(r, n), int64(at)); err != nil {
			return err
		}
		again := max(0, at-r.IntN(1<<r.IntN(24))) // mostly little
		if _, err := f.WriteAt(data[again:at+n], int64(again)); err != nil {
			return err
		}
		at += n
	}
	if _, err := f.WriteAt(data[:min(len(data), 100)], 0); err != nil {
		return err
	}
	return f.Put(path, false)
}

// content returns so many bytes that differ.
func content(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// TestObjects: objects are written whole, listed, read by any ranges, and removed.
func TestObjects(t *testing.T) {
	p := mounted(t)
	r := rand.New(rand.NewPCG(1, 1))
	data := content(r, 20<<20+12345) // several parts
	if err := put("s3://bucket/a/b/large", data, false); err != nil {
		t.Fatal(err)
	}
	if err := put("s3:/bucket/a/small", data[:1000], false); err != nil {
		t.Fatal(err)
	}
	if err := put("s3:/bucket/a/empty", nil, false); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"s3://bucket/a/b/large", "s3://bucket/a/small"} {
		if err := put(path, data[:2000], false); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s was replaced: %v", path, err)
		}
	}
	list, err := vfs.ReadDir("s3://bucket/a")
	if err != nil || len(list) != 3 || list[0].Name() != "b" || !list[0].IsDir() || list[2].Name() != "small" {
		t.Errorf("%v, %v", list, err)
	}
	if info, err := vfs.Stat("s3://bucket/a/b/"); err != nil || !info.IsDir() {
		t.Error(info, err)
	}
	if _, err := vfs.Stat("s3://bucket/a/c"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := vfs.ReadFile("s3://elsewhere/a/c.txt"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if b, err := vfs.ReadFile("s3://bucket/a/empty"); err != nil || len(b) > 0 {
		t.Error(len(b), err)
	}
	f, err := vfs.OpenRegular("s3://bucket/a/b/large")
	if err != nil {
		t.Fatal(err)
	}
	var readers sync.WaitGroup
	for i := range 4 {
		readers.Go(func() {
			r := rand.New(rand.NewPCG(2, uint64(i)))
			for range 50 {
				at := r.IntN(len(data))
				buf := make([]byte, 1+r.IntN(200<<10))
				n, err := f.ReadAt(buf, int64(at))
				if err != nil && (err != io.EOF || at+len(buf) <= len(data)) || n < min(len(buf), len(data)-at) ||
					!bytes.Equal(buf[:n], data[at:at+n]) {
					t.Errorf("%d bytes at %d: %d, %v", len(buf), at, n, err)
				}
			}
		})
	}
	readers.Wait()
	if b, err := vfs.ReadFile("s3://bucket/a/b/large"); err != nil || !bytes.Equal(b, data) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	// What is read twice is asked for once, and what is read in order by few large requests.
	MountS3(t.Context())
	if f, err = vfs.Open("s3://bucket/a/b/large"); err != nil {
		t.Fatal(err)
	}
	before := p.Requests.Load()
	for _, n := range []int{12, 300_000} { // a footer, and the manifest before it
		if _, err := f.ReadAt(make([]byte, n), int64(len(data)-n)); err != nil {
			t.Fatal(err)
		}
	}
	if n := p.Requests.Load() - before; n != 1 {
		t.Errorf("%d requests for the end", n)
	}
	for range 2 {
		for at := 0; at < 10<<20; at += 30 << 10 {
			if _, err := f.ReadAt(make([]byte, 30<<10), int64(at)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := p.Requests.Load() - before; n > 12 {
		t.Errorf("%d requests for 10 MB", n)
	}
	if err := put("s3://bucket/a/b/large", data[1:], true); err != nil {
		t.Fatal(err)
	}
	if _, err := f.ReadAt(make([]byte, 10), 15<<20); !errors.Is(err, errChanged) {
		t.Errorf("an object that was replaced: %v", err)
	}
	if err := vfs.Remove("s3://bucket/a/small"); err != nil {
		t.Error(err)
	}
	if _, err := vfs.Stat("s3://bucket/a/small"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestFaults: whatever happens between client and server, bytes that are read are right, and an object that is there is whole.
func TestFaults(t *testing.T) {
	p := mounted(t)
	draws := testrun.Pick(20, 50, 500)
	old := partLen
	partLen = 5 << 20 // the least that servers take
	t.Cleanup(func() { partLen = old })
	r := rand.New(rand.NewPCG(3, 3))
	data := content(r, 16<<20)
	right, failed, hit := 0, 0, 0
	for draw := range draws {
		path := fmt.Sprintf("s3://bucket/f/%d.cdna", draw)
		size, share := 1+r.IntN(1<<20), 2+r.IntN(20)
		if draw%8 == 0 {
			size = 5<<20 + r.IntN(11<<20)
		}
		var mu sync.Mutex
		choices := rand.New(rand.NewPCG(4, uint64(draw)))
		fault := func() string {
			mu.Lock()
			defer mu.Unlock()
			if choices.IntN(share) > 0 {
				return ""
			}
			hit++
			return objectserver.Faults[choices.IntN(len(objectserver.Faults))]
		}
		p.Fault.Store(&fault)
		var err error
		if draw%16 == 0 {
			err = putEarly(path, data[:size], r)
		} else {
			err = put(path, data[:size], false)
		}
		MountS3(t.Context()) // nothing is known
		var got []byte
		f, readErr := vfs.Open(path)
		if readErr == nil {
			got = make([]byte, size)
			_, readErr = f.ReadAt(got, 0)
		}
		none := func() string { return "" }
		p.Fault.Store(&none)
		MountS3(t.Context())
		there, lookErr := vfs.ReadFile(path)
		switch {
		case lookErr != nil && !errors.Is(lookErr, fs.ErrNotExist), lookErr == nil && !bytes.Equal(there, data[:size]):
			t.Fatalf("draw %d: %d of %d bytes are there, %v", draw, len(there), size, lookErr)
		case err == nil && lookErr != nil:
			t.Fatalf("draw %d: it was put, and is not there", draw)
		case readErr == nil && !bytes.Equal(got, data[:size]):
			t.Fatalf("draw %d: other bytes", draw)
		case err != nil || readErr != nil:
			failed++
		default:
			right++
		}
	}
	t.Logf("%d right, %d failed, %d faults", right, failed, hit)
	if right < draws/2 || hit < draws/4 {
		t.Errorf("%d right, %d failed, %d faults", right, failed, hit)
	}
}

// TestSentEarly: most of a file is sent while it is written; of one that is given up nothing is left.
func TestSentEarly(t *testing.T) {
	p := mounted(t)
	old := partLen
	partLen = 5 << 20
	t.Cleanup(func() { partLen = old })
	data := content(rand.New(rand.NewPCG(6, 6)), 32<<20)
	write := func(path string) *vfs.File {
		f, err := vfs.CreateUnnamed(filepath.Dir(path), path)
		if err != nil {
			t.Fatal(err)
		}
		f.SendEarly(0)
		for at := 0; at < len(data); at += 1 << 20 {
			if _, err := f.WriteAt(data[at:at+1<<20], int64(at)); err != nil {
				t.Fatal(err)
			}
		}
		return f
	}
	sent := func() bool { return p.Received.Load() > 10<<20 }
	for range 100 {
		if f := write("s3://bucket/early/given-up"); f.Close() != nil || sent() {
			break
		}
	}
	if list, err := objectserver.Uploads(p.URL, "bucket"); err != nil || len(list) > 0 || !sent() {
		t.Errorf("%d bytes were sent; left: %v, %v", p.Received.Load(), list, err)
	}
	f := write("s3://bucket/early/whole")
	defer f.Close()
	if list, err := vfs.ReadDir("s3://bucket/early"); err != nil || len(list) > 0 {
		t.Errorf("%v is there before it is whole: %v", list, err)
	}
	if err := f.Put("s3://bucket/early/whole", false); err != nil {
		t.Fatal(err)
	}
	if b, err := vfs.ReadFile("s3://bucket/early/whole"); err != nil || !bytes.Equal(b, data) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

// TestWeb: files of a web server are read by ranges; one that changes or gives no ranges is refused.
func TestWeb(t *testing.T) {
	data := content(rand.New(rand.NewPCG(5, 5)), 1<<20)
	var changed atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/x/run.cdna":
			w.Header().Set("ETag", fmt.Sprintf(`"%t"`, changed.Load()))
			http.ServeContent(w, r, "run.cdna", time.Unix(1e9, 0), bytes.NewReader(data))
		case "/x/whole":
			w.Header().Set("Content-Length", "1000")
			w.Write(data[:1000])
		case "/x/denied":
			w.WriteHeader(http.StatusForbidden)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	MountWeb(t.Context(), "http")
	path := s.URL + "/x/run.cdna"
	f, err := vfs.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 100_000)
	if _, err := f.ReadAt(got, 500_000); err != nil || !bytes.Equal(got, data[500_000:600_000]) {
		t.Error(err)
	}
	if list, err := vfs.ReadDir(filepath.Dir(path)); err != nil || len(list) != 1 || list[0].Name() != "run.cdna" {
		t.Error(list, err)
	}
	changed.Store(true)
	if _, err := f.ReadAt(got, 0); !errors.Is(err, errChanged) {
		t.Errorf("a file that changed: %v", err)
	}
	if _, err := vfs.Open(s.URL + "/x/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := vfs.Open(s.URL + "/x/denied"); !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
	if f, err = vfs.Open(s.URL + "/x/whole"); err == nil {
		_, err = f.ReadAt(got[:10], 500)
	}
	if err == nil {
		t.Error("a server without ranges")
	}
	if err := put(s.URL+"/x/new", data, false); !errors.Is(err, errReadOnly) {
		t.Error(err)
	}
}

package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	"orcomgo/bins/vfs"
)

// web is the remote of files on web servers. They have no directories: a directory holds the files in it that were asked for.
type web struct {
	ctx    context.Context
	scheme string // https or http
	client http.Client
	cache  *cache
	mu     sync.Mutex
	files  map[string]*object // by path
}

// MountWeb makes https://HOST/PATH, or with the scheme http http://HOST/PATH, files of package vfs, until the context ends.
func MountWeb(ctx context.Context, scheme string) {
	vfs.Mount(scheme, &web{ctx: ctx, scheme: scheme, cache: newCache(), files: make(map[string]*object)})
}

// url returns the URL of a path, which may have been cleaned.
func (w *web) url(path string) string {
	return w.scheme + "://" + strings.TrimLeft(strings.TrimPrefix(path, w.scheme+":"), "/")
}

// clean returns a path as package filepath cleans it.
func clean(p string) string {
	scheme, rest, _ := strings.Cut(p, ":/")
	return scheme + ":" + path.Clean("/"+rest)
}

// ask sends a request for a file, for n bytes of it from an offset on if n > 0, of a version of it if tag is not "".
func (w *web) ask(method, path, tag string, from, n int64) (*http.Response, error) {
	r, err := http.NewRequestWithContext(w.ctx, method, w.url(path), nil)
	if err != nil {
		return nil, err
	}
	if n > 0 {
		r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", from, from+n-1))
	}
	if tag != "" {
		r.Header.Set("If-Match", tag)
	}
	answer, err := w.client.Do(r)
	if err != nil {
		return nil, again(w.ctx, err)
	}
	want := http.StatusOK
	if n > 0 {
		want = http.StatusPartialContent
	}
	if answer.StatusCode != want {
		answer.Body.Close()
		if n > 0 && answer.StatusCode == http.StatusOK {
			return nil, fmt.Errorf("the server gives whole files only: expected %s for a range", http.StatusText(want))
		}
		return nil, failure(answer.StatusCode, answer.Status)
	}
	return answer, nil
}

// find returns a file, with what the server says of it the first time.
func (w *web) find(p string) (*object, error) {
	p = clean(p)
	w.mu.Lock()
	o := w.files[p]
	w.mu.Unlock()
	if o != nil {
		return o, nil
	}
	o = &object{cache: w.cache}
	var answer *http.Response
	err := retry(func() (err error) {
		answer, err = w.ask(http.MethodHead, p, "", 0, 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	answer.Body.Close()
	if answer.ContentLength < 0 {
		return nil, fmt.Errorf("the server doesn't say how long it is")
	}
	tag := answer.Header.Get("ETag")
	if strings.HasPrefix(tag, "W/") { // such tags don't say that the bytes are the same
		tag = ""
	}
	o.info = vfs.RemoteInfo{Path: p, Length: answer.ContentLength}
	o.info.Modified, _ = http.ParseTime(answer.Header.Get("Last-Modified"))
	o.get = func(from, n int64) (io.ReadCloser, error) {
		answer, err := w.ask(http.MethodGet, p, tag, from, n)
		if err != nil {
			return nil, err
		}
		if part := answer.Header.Get("Content-Range"); part != fmt.Sprintf("bytes %d-%d/%d", from, from+n-1, o.info.Length) {
			answer.Body.Close()
			return nil, errChanged
		}
		return answer.Body, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files[p] = o
	return o, nil
}

func (w *web) Open(p string) (vfs.RemoteFile, error) {
	o, err := w.find(p)
	if err != nil {
		return nil, err
	}
	return o, nil
}

func (w *web) Stat(p string) (fs.FileInfo, error) {
	o, err := w.find(p)
	if err != nil {
		return nil, err
	}
	return &o.info, nil
}

func (w *web) ReadDir(dir string) (list []fs.DirEntry, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for p, o := range w.files {
		if path.Dir(p) == clean(dir) {
			list = append(list, &o.info)
		}
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, nil
}

// errReadOnly is the error of files on web servers that would be written.
var errReadOnly = errors.New("files on web servers are read only")

func (w *web) Put(string, io.ReaderAt, int64, bool) error { return errReadOnly }
func (w *web) Remove(string) error                        { return errReadOnly }

package storage

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"net/http"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"
	"golang.org/x/sync/errgroup"

	"orcomgo/bins/vfs"
)

// Uploads of more than partLen bytes are cut into parts of so many, those after the first largeFrom into parts of largePart, as there
// are no more than 10,000. An interrupted one is removed in removeWait, if the server answers.
const (
	largeFrom  = 5000
	largePart  = 1 << 30
	removeWait = 5 * time.Second
)

var partLen int64 = 16 << 20 // tests have smaller ones

// partAt returns where part i of an upload begins.
func partAt(i int) int64 {
	return int64(min(i, largeFrom))*partLen + int64(max(i-largeFrom, 0))*largePart
}

// partOf returns the part that a byte is in.
func partOf(at int64) int {
	return int(min(at/partLen, largeFrom) + max(at-largeFrom*partLen, 0)/largePart)
}

// Parts that are not kept here are objects by themselves until the upload is complete: those of KEY are KEY.orcomgo-parts/NUMBER. Of
// what is kept, unsentParts are for parts that are being written or sent.
const (
	stagedSuffix = ".orcomgo-parts"
	unsentParts  = largeParts + 3
)

// checksum is the header by which the server compares what it got.
const checksum = "X-Amz-Checksum-Crc32c"

// crc returns the value of checksum for what r reads, from its beginning, where r is again then.
func crc(r io.ReadSeeker) (string, error) {
	h := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	_, err := r.Seek(0, io.SeekStart)
	return base64.StdEncoding.EncodeToString(h.Sum(nil)), err
}

// Put implements vfs.Remote. The file has its name once all of it is there.
func (s *bucketStore) Put(p string, from io.ReaderAt, size int64, replace bool) error {
	u := s.Send(p, from, 0, nil)
	defer u.Abort()
	return u.Put(size, replace)
}

// upload is a vfs.Upload: an object that is being put. Parts of it may be sent while others are still written.
type upload struct {
	s           *bucketStore
	path        string
	bucket, key string
	from        io.ReaderAt
	ctx         context.Context
	cancel      context.CancelFunc
	busy        errgroup.Group // sends parts early
	stageFrom   int            // parts from this one on are staged
	forget      func(at, n int64)
	staged      atomic.Bool // some part is, or was
	beginning   sync.Mutex
	id          string // "" before there are parts, and after the end; beginning is held
	mu          sync.RWMutex
	parts       []part // mu is held
	lost        bool   // bytes were written that are not kept here; mu is held
}

// part is what is known of a part of an upload.
type part struct {
	minio.CompletePart         // without a tag if it is still to be sent; or of staged
	changes            int     // how often it was written to since it was first sent
	staged             *object // that has it; nil: it is here
}

func (s *bucketStore) Send(p string, from io.ReaderAt, kept int64, forget func(at, n int64)) vfs.Upload {
	u := &upload{s: s, path: clean(p), from: from, forget: forget, stageFrom: math.MaxInt}
	u.bucket, u.key = split(u.path)
	if kept > 0 {
		u.stageFrom = max(partOf(kept)-unsentParts, 1) // the first part is written again in the end
	}
	u.ctx, u.cancel = context.WithCancel(context.WithoutCancel(s.ctx)) // Abort lets requests end that the server may have whole
	u.busy.SetLimit(largeParts)
	return u
}

// Wrote implements vfs.Upload. A part is sent once the next one is written, too, since blocks at the end may be written again; the first
// one in the end, since archives have their IDs there. From then on no others are staged: the header of the parity is written last. What
// can't be sent is sent again in the end. Where parts are staged, it waits until no more than largeParts are being sent.
func (u *upload) Wrote(from, to int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for i := len(u.parts) - 1; i >= 0 && from < partAt(i+1); i-- {
		if to > partAt(i) {
			u.lost = u.lost || u.parts[i].staged != nil
			u.parts[i] = part{changes: u.parts[i].changes + 1}
		}
		if i == 0 {
			u.stageFrom = math.MaxInt
		}
	}
	for i := len(u.parts); partAt(i+2) <= to; i++ {
		u.parts = append(u.parts, part{})
		if i == 0 {
			continue
		}
		stage := i >= u.stageFrom
		send := func() error {
			if stage {
				_ = u.stage(i)
			} else {
				_ = u.send(i, partAt(i+1))
			}
			return nil
		}
		if partOf(to) > u.stageFrom {
			u.mu.Unlock()
			u.busy.Go(send)
			u.mu.Lock()
		} else if !u.busy.TryGo(send) {
			u.parts = u.parts[:i]
			return
		}
	}
}

// stage makes part i an object by itself, and gives back the room that it takes here.
func (u *upload) stage(i int) error {
	path, at, n := fmt.Sprintf("%s%s/%d", u.path, stagedSuffix, i), partAt(i), partAt(i+1)-partAt(i)
	_, key := split(path)
	u.staged.Store(true)
	return retry(func() error {
		if err := cmp.Or(u.ctx.Err(), u.s.connect()); err != nil {
			return err
		}
		u.mu.RLock()
		changes := u.parts[i].changes
		u.mu.RUnlock()
		put, sum, err := u.putObject(key, at, n, minio.PutObjectOptions{})
		if err != nil {
			return err
		}
		u.mu.Lock()
		defer u.mu.Unlock()
		if put.VersionID != "" { // the bucket would keep it when it is removed
			u.stageFrom = math.MaxInt
			return u.s.core.RemoveObject(u.ctx, u.bucket, key, minio.RemoveObjectOptions{VersionID: put.VersionID})
		}
		if p := &u.parts[i]; p.changes == changes {
			p.staged = u.s.object(&vfs.RemoteInfo{Path: path, Length: n, Modified: time.Now()}, put.ETag)
			p.CompletePart = minio.CompletePart{PartNumber: i + 1, ETag: put.ETag, ChecksumCRC32C: sum}
			u.forget(at, n)
		}
		return nil
	})
}

// putObject puts n bytes from a place on, and returns their CRC-32C, too.
func (u *upload) putObject(key string, at, n int64, o minio.PutObjectOptions) (put minio.UploadInfo, sum string, err error) {
	r := io.NewSectionReader(u.from, at, n)
	if sum, err = crc(r); err == nil {
		o.UserMetadata = map[string]string{checksum: sum}
		put, err = u.s.core.PutObject(u.ctx, u.bucket, key, r, n, "", "", o)
		err = u.s.answer(err)
	}
	return put, sum, err
}

func (u *upload) ReadAt(p []byte, at int64) (done int, err error) {
	for done < len(p) && err == nil {
		i, n := partOf(at), 0
		some := p[done:][:min(int64(len(p)-done), partAt(i+1)-at)]
		u.mu.RLock()
		if i < len(u.parts) && u.parts[i].staged != nil {
			staged := u.parts[i].staged
			u.mu.RUnlock()
			n, err = staged.ReadAt(some, at-partAt(i))
		} else {
			n, err = u.from.ReadAt(some, at)
			u.mu.RUnlock() // until then its room is not given back
		}
		done, at = done+n, at+int64(n)
	}
	return done, err
}

// removeStaged removes the staged parts of the object at a path, those that killed runs left, too.
func (s *bucketStore) removeStaged(ctx context.Context, path string) error {
	s.forget(path + stagedSuffix)
	l, err := s.list(path + stagedSuffix)
	if err != nil {
		return err
	}
	return retry(func() (err error) {
		bucket, key := split(path)
		keys := make(chan minio.ObjectInfo, len(l.entries))
		for _, e := range l.entries {
			keys <- minio.ObjectInfo{Key: key + stagedSuffix + "/" + e.Name()}
		}
		close(keys)
		for failed := range s.core.RemoveObjects(ctx, bucket, keys, minio.RemoveObjectsOptions{}) {
			err = failed.Err
		}
		return s.answer(err)
	})
}

// begin starts the upload in parts, unless that was done.
func (u *upload) begin() (id string, err error) {
	u.beginning.Lock()
	defer u.beginning.Unlock()
	if u.id == "" {
		if err = u.s.connect(); err != nil {
			return "", err
		}
		o := minio.PutObjectOptions{UserMetadata: map[string]string{"X-Amz-Checksum-Algorithm": "CRC32C"}}
		u.id, err = u.s.core.NewMultipartUpload(u.s.ctx, u.bucket, u.key, o)
	}
	return u.id, u.s.answer(err)
}

// send sends part i, which ends at to, or has the server take it from where it is staged.
func (u *upload) send(i int, to int64) error {
	return retry(func() error {
		id, err := u.begin()
		if err = cmp.Or(u.ctx.Err(), err); err != nil {
			return err
		}
		u.mu.RLock()
		p := u.parts[i]
		u.mu.RUnlock()
		if p.staged != nil {
			_, key := split(p.staged.info.Path)
			sent, err := u.s.core.CopyObjectPart(u.ctx, u.bucket, key, u.bucket, u.key, id, i+1, 0, -1,
				map[string]string{"x-amz-copy-source-if-match": p.ETag})
			if err = u.s.answer(err); err == nil && sent.ETag == "" { // it failed after its status was sent
				err = passing{errEarly}
			} else if errors.Is(err, errChanged) || errors.Is(err, fs.ErrNotExist) {
				err = errors.New("another run has replaced parts of it")
			}
			if err == nil {
				u.parts[i].ETag = strings.Trim(sent.ETag, `"`)
			}
			return err
		}
		n := to - partAt(i)
		r := io.NewSectionReader(u.from, partAt(i), n)
		sum, err := crc(r)
		if err != nil {
			return err
		}
		sent, err := u.s.core.PutObjectPart(u.ctx, u.bucket, u.key, id, i+1, r, n,
			minio.PutObjectPartOptions{CustomHeader: http.Header{checksum: {sum}}})
		if err != nil {
			return u.s.answer(err)
		}
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.parts[i].changes == p.changes {
			u.parts[i].CompletePart = minio.CompletePart{PartNumber: i + 1, ETag: sent.ETag, ChecksumCRC32C: sum}
		}
		return nil
	})
}

func (u *upload) Put(size int64, replace bool) error {
	if err := u.s.connect(); err != nil {
		return err
	}
	if u.forget != nil {
		if _, _, err := u.s.find(u.path + stagedSuffix); err == nil { // of a run that was killed
			u.staged.Store(true)
		}
	}
	defer u.s.forget(path.Dir(u.path))
	var o minio.PutObjectOptions
	if !replace {
		o.SetMatchETagExcept("*")
	}
	var err error
	if size > partLen {
		err = u.putParts(size, o)
	} else {
		err = retry(func() error {
			_, _, err := u.putObject(u.key, 0, size, o)
			return err
		})
	}
	if errors.Is(err, errChanged) && !replace {
		return fs.ErrExist
	}
	if err == nil && u.staged.Load() {
		u.staged.Store(u.s.removeStaged(u.s.ctx, u.path) != nil)
	}
	return err
}

// putParts is Put in parts, which are sent side by side.
func (u *upload) putParts(size int64, o minio.PutObjectOptions) error {
	_ = u.busy.Wait() // has no error
	if u.lost {
		return errors.New("what was sent was written again")
	}
	for partAt(len(u.parts)) < size {
		u.parts = append(u.parts, part{})
	}
	var g errgroup.Group
	g.SetLimit(largeParts)
	for i := range u.parts {
		if u.parts[i].ETag == "" || u.parts[i].staged != nil {
			g.Go(func() error { return u.send(i, min(partAt(i+1), size)) })
		}
	}
	if err := g.Wait(); err != nil {
		return err
	}
	var list []minio.CompletePart
	for _, p := range u.parts {
		list = append(list, p.CompletePart)
	}
	err := retry(func() error {
		_, err := u.s.core.CompleteMultipartUpload(u.ctx, u.bucket, u.key, u.id, list, o)
		return u.s.answer(err)
	})
	if err == nil {
		u.id = ""
	}
	return err
}

func (u *upload) Abort() {
	late := time.AfterFunc(removeWait, u.cancel)
	_ = u.busy.Wait()
	late.Stop()
	u.cancel()
	u.beginning.Lock()
	defer u.beginning.Unlock()
	end, cancel := context.WithTimeout(context.WithoutCancel(u.s.ctx), removeWait)
	defer cancel()
	if u.id != "" {
		_ = u.s.core.AbortMultipartUpload(end, u.bucket, u.key, u.id)
		u.id = ""
	}
	if u.staged.Swap(false) {
		_ = u.s.removeStaged(end, u.path)
	}
}

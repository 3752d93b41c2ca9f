package storage

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"orcomgo/bins/vfs"
)

// bucketStore is the remote of object storage: s3://BUCKET/KEY. A directory is a prefix that keys have, up to a slash.
type bucketStore struct {
	ctx   context.Context
	cache *cache
	once  sync.Once
	core  minio.Core // once is done
	err   error
	mu    sync.Mutex
	lists map[string]listing // by path of a directory
}

// listing is what a directory had.
type listing struct {
	entries []*vfs.RemoteInfo
	tags    map[string]string // of the files, by name
	at      time.Time
}

// listingHolds is how long it is not asked again what is in a directory.
const listingHolds = 5 * time.Second

// MountS3 makes s3://BUCKET/KEY files of package vfs, until the context ends. The server is that of AWS_ENDPOINT_URL_S3 or
// AWS_ENDPOINT_URL, else Amazon's in AWS_REGION; credentials come from the environment, the files of AWS's and MinIO's programs, or the
// instance. Nothing is asked of the server before a file is used.
func MountS3(ctx context.Context) {
	vfs.Mount("s3", &bucketStore{ctx: ctx, cache: newCache(), lists: make(map[string]listing)})
}

// connect makes the client.
func (s *bucketStore) connect() error {
	s.once.Do(func() {
		region := cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), "us-east-1")
		at := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), "https://s3."+region+".amazonaws.com")
		u, err := url.Parse(at)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			s.err = fmt.Errorf("AWS_ENDPOINT_URL is %q: expected https://HOST", at)
			return
		}
		transport, err := minio.DefaultTransport(u.Scheme == "https")
		if err != nil {
			s.err = err
			return
		}
		transport.TLSClientConfig = cmp.Or(transport.TLSClientConfig, new(tls.Config))
		transport.TLSClientConfig.MinVersion = tls.VersionTLS12
		chain := credentials.NewChainCredentials([]credentials.Provider{
			&credentials.EnvAWS{}, &credentials.EnvMinio{}, &credentials.FileAWSCredentials{}, &credentials.FileMinioClient{},
			&credentials.IAM{Client: &http.Client{Transport: transport, Timeout: 3 * time.Second}},
		})
		// One try each: retry tries again.
		client, err := minio.New(u.Host, &minio.Options{
			Creds: chain, Secure: u.Scheme == "https", Region: region, Transport: transport, MaxRetries: 1,
		})
		s.core, s.err = minio.Core{Client: client}, err
	})
	return s.err
}

// split returns bucket and key of a path.
func split(p string) (bucket, key string) {
	bucket, key, _ = strings.Cut(strings.TrimLeft(strings.TrimPrefix(p, "s3:"), "/"), "/")
	return bucket, key
}

// answer returns an error of the client as one of this package.
func (s *bucketStore) answer(err error) error {
	if err == nil {
		return nil
	}
	said := minio.ToErrorResponse(err)
	switch {
	case said.Code == minio.NoSuchKey, said.Code == "NoSuchBucket":
		return fs.ErrNotExist
	case said.StatusCode == 0:
		return again(s.ctx, err)
	}
	return failure(said.StatusCode, strings.TrimSpace(said.Code+" "+said.Message))
}

// list returns what a directory has.
func (s *bucketStore) list(dir string) (listing, error) {
	dir = clean(dir)
	s.mu.Lock()
	l, ok := s.lists[dir]
	s.mu.Unlock()
	if ok && time.Since(l.at) < listingHolds {
		return l, nil
	}
	if err := s.connect(); err != nil {
		return l, err
	}
	bucket, prefix := split(dir)
	if prefix != "" {
		prefix += "/"
	}
	l = listing{tags: make(map[string]string), at: time.Now()}
	token := ""
	for more := true; more; {
		var page minio.ListBucketV2Result
		err := retry(func() (err error) {
			page, err = s.core.ListObjectsV2(bucket, prefix, "", token, "/", 0)
			return s.answer(err)
		})
		if err != nil {
			return l, err
		}
		for _, o := range page.Contents {
			if name := strings.TrimPrefix(o.Key, prefix); name != "" {
				l.entries = append(l.entries, &vfs.RemoteInfo{Path: path.Join(dir, name), Length: o.Size, Modified: o.LastModified})
				l.tags[name] = strings.Trim(o.ETag, `"`)
			}
		}
		for _, p := range page.CommonPrefixes {
			l.entries = append(l.entries, &vfs.RemoteInfo{Path: path.Join(dir, strings.TrimPrefix(p.Prefix, prefix)), Dir: true})
		}
		more, token = page.IsTruncated, page.NextContinuationToken
	}
	slices.SortFunc(l.entries, func(a, b *vfs.RemoteInfo) int { return strings.Compare(a.Path, b.Path) })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists[dir] = l
	return l, nil
}

func (s *bucketStore) ReadDir(dir string) (entries []fs.DirEntry, err error) {
	l, err := s.list(dir)
	for _, e := range l.entries {
		entries = append(entries, e)
	}
	return entries, err
}

// find returns what the directory of a file says of it.
func (s *bucketStore) find(p string) (info *vfs.RemoteInfo, tag string, err error) {
	p = clean(p)
	l, err := s.list(path.Dir(p))
	if err != nil {
		return nil, "", err
	}
	i, found := slices.BinarySearchFunc(l.entries, p, func(e *vfs.RemoteInfo, p string) int { return strings.Compare(e.Path, p) })
	if !found {
		return nil, "", fs.ErrNotExist
	}
	return l.entries[i], l.tags[path.Base(p)], nil
}

// Stat implements vfs.Remote. Names without a dot are looked for as directories first, which most are.
func (s *bucketStore) Stat(p string) (fs.FileInfo, error) {
	p = clean(p)
	if bucket, key := split(p); bucket == "" || key == "" || !strings.Contains(path.Base(key), ".") {
		if l, err := s.list(p); err != nil {
			return nil, err
		} else if len(l.entries) > 0 || key == "" {
			return &vfs.RemoteInfo{Path: p, Dir: true}, nil
		}
	}
	info, _, err := s.find(p)
	if err != nil {
		return nil, err
	}
	return info, nil
}

func (s *bucketStore) Open(p string) (vfs.RemoteFile, error) {
	info, tag, err := s.find(p)
	if err != nil {
		return nil, err
	}
	if info.Dir {
		return nil, vfs.ErrNotRegular
	}
	return s.object(info, tag), nil
}

// object returns an object, of a version of it if tag is not "".
func (s *bucketStore) object(info *vfs.RemoteInfo, tag string) *object {
	bucket, key := split(info.Path)
	get := func(from, n int64) (io.ReadCloser, error) {
		var o minio.GetObjectOptions
		if err := o.SetRange(from, from+n-1); err != nil {
			return nil, err
		}
		if tag != "" {
			if err := o.SetMatchETag(tag); err != nil {
				return nil, err
			}
		}
		r, _, _, err := s.core.GetObject(s.ctx, bucket, key, o)
		return r, s.answer(err)
	}
	return &object{info: *info, cache: s.cache, get: get}
}

func (s *bucketStore) Remove(p string) error {
	if err := s.connect(); err != nil {
		return err
	}
	p = clean(p)
	bucket, key := split(p)
	defer s.forget(path.Dir(p))
	return retry(func() error { return s.answer(s.core.RemoveObject(s.ctx, bucket, key, minio.RemoveObjectOptions{})) })
}

// forget has a directory asked again what it has.
func (s *bucketStore) forget(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.lists, dir)
}

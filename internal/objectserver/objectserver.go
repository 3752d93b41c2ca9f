// Package objectserver starts a server of object storage for tests, and a proxy before it that fails on purpose. Only tests import it.
package objectserver

import (
	"bytes"
	"context"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"orcomgo/internal/testrun"
)

// gateway is a server of object storage, github.com/versity/versitygw.
const gateway = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"

// Start starts a server with a bucket called bucket, for the time of a test, and returns its URL. The keys are me and secret12. A test is
// skipped where the program is not installed, but for make test-long, which builds it.
func Start(t *testing.T) string {
	program, err := exec.LookPath("versitygw")
	if home, _ := os.UserHomeDir(); err != nil {
		program, err = exec.LookPath(filepath.Join(home, "go", "bin", "versitygw"))
	}
	if err != nil && testrun.Long() {
		dir := t.TempDir()
		build := exec.Command("go", "install", gateway)
		build.Dir, build.Env = dir, append(os.Environ(), "GOBIN="+dir, "GOFLAGS=")
		err, program = build.Run(), filepath.Join(dir, "versitygw")
	}
	if err != nil {
		t.Skip("no versitygw: go install " + gateway)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "bucket"), 0o777); err != nil {
		t.Fatal(err)
	}
	run := exec.Command(program, "--port", address, "--access", "me", "--secret", "secret12", "--quiet", "posix", dir)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		run.Process.Kill()
		run.Wait()
	})
	for range 100 {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return "http://" + address
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("the server does not answer")
	return ""
}

// Proxy stands between client and server. It counts requests, and bytes of answers and of what is put, and does with a request what Fault
// says, if it is set.
type Proxy struct {
	*httptest.Server
	Requests, Bytes, Received atomic.Int64
	Fault                     atomic.Pointer[func() string]
}

// Faults are what a proxy can do.
var Faults = []string{"reset", "500", "503", "cut", "reset after"}

// NewProxy starts a proxy.
func NewProxy(t *testing.T, server string) *Proxy {
	at, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	p := new(Proxy)
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(at)
		r.Out.Host = r.In.Host // which is signed
	}, ErrorLog: quietLog()}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.Requests.Add(1)
		p.Received.Add(max(r.ContentLength, 0))
		fault := ""
		if f := p.Fault.Load(); f != nil {
			fault = (*f)()
		}
		switch fault {
		case "500", "503":
			io.Copy(io.Discard, r.Body)
			status := map[string]int{"500": http.StatusInternalServerError, "503": http.StatusServiceUnavailable}[fault]
			w.WriteHeader(status)
			io.WriteString(w, "<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>")
			return
		case "reset":
			panic(http.ErrAbortHandler)
		}
		answer := httptest.NewRecorder()
		forward.ServeHTTP(answer, r)
		body := answer.Body.Bytes()
		p.Bytes.Add(int64(len(body)))
		if fault == "reset after" {
			panic(http.ErrAbortHandler)
		}
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		if fault == "cut" && len(body) > 0 {
			w.Write(body[:len(body)/2])
			panic(http.ErrAbortHandler)
		}
		w.Write(body)
	}))
	p.Config.ErrorLog = quietLog()
	t.Cleanup(p.Close)
	return p
}

// quietLog is for servers whose connections are cut on purpose.
func quietLog() *log.Logger { return log.New(io.Discard, "", 0) }

// Store makes data the object at BUCKET/KEY of a server.
func Store(server, path string, data []byte) error {
	c, bucket, key, err := client(server, path)
	if err == nil {
		_, err = c.PutObject(context.Background(), bucket, key, bytes.NewReader(data), int64(len(data)), minio.PutObjectOptions{})
	}
	return err
}

// Fetch writes the object at BUCKET/KEY of a server to a file.
func Fetch(server, path, file string) error {
	c, bucket, key, err := client(server, path)
	if err == nil {
		err = c.FGetObject(context.Background(), bucket, key, file, minio.GetObjectOptions{})
	}
	return err
}

// Uploads returns the keys of the uploads in parts of a bucket that are neither complete nor removed.
func Uploads(server, bucket string) (keys []string, err error) {
	c, _, _, err := client(server, bucket)
	if err != nil {
		return nil, err
	}
	for u := range c.ListIncompleteUploads(context.Background(), bucket, "", true) {
		keys, err = append(keys, u.Key), u.Err
	}
	return keys, err
}

func client(server, path string) (c *minio.Client, bucket, key string, err error) {
	bucket, key, _ = strings.Cut(path, "/")
	c, err = minio.New(strings.TrimPrefix(server, "http://"), &minio.Options{
		Creds: credentials.NewStaticV4("me", "secret12", ""), Region: "us-east-1"})
	return c, bucket, key, err
}

package compress_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/neicnordic/crypt4gh/keys"

	"orcomgo/bins/crypt"
	"orcomgo/bins/vfs"
	"orcomgo/compress"
	"orcomgo/storage"
)

// count prints how many records an archive has, and how many bases.
func count(name string, file io.ReaderAt, size int64) {
	r, err := compress.OpenReaderAt(name, file, size, compress.ReaderOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	records, bases := 0, 0
	for rec, err := range r.Records(context.Background(), compress.Query{Want: compress.WantBases}) {
		if err != nil {
			log.Fatal(err)
		}
		records, bases = records+1, bases+len(rec.Bases)
	}
	fmt.Println(name, records, bases)
}

// An archive in a local file.
func ExampleOpenReaderAt() {
	dir := archived()
	defer os.RemoveAll(dir)

	f, err := os.Open(dir + "/run_R1.cdna")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		log.Fatal(err)
	}
	count("run_R1", f, info.Size())
	// Output:
	// run_R1 6 71
}

// An archive on a web server: ranges are asked for as they are needed. The client is http.DefaultClient's, so https works alike.
func ExampleOpenReaderAt_https() {
	dir := archived()
	defer os.RemoveAll(dir)
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()

	storage.MountWeb(context.Background(), "http")
	f, err := vfs.OpenRegular(server.URL + "/run_R1.cdna")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		log.Fatal(err)
	}
	count("run_R1", f, size)
	// Output:
	// run_R1 6 71
}

// An archive in object storage. The environment says which server that is, and by which keys; here it is one that has a file alone.
func ExampleOpenReaderAt_s3() {
	dir := archived()
	defer os.RemoveAll(dir)
	file := dir + "/run_R1.cdna"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if info, err := os.Stat(file); err == nil && r.URL.Query().Has("list-type") {
			fmt.Fprintf(w, "<ListBucketResult><Contents><Key>2026/run_R1.cdna</Key><Size>%d</Size></Contents></ListBucketResult>", info.Size())
			return
		}
		http.ServeFile(w, r, file)
	}))
	defer server.Close()
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": server.URL, "AWS_ACCESS_KEY_ID": "me", "AWS_SECRET_ACCESS_KEY": "secret"} {
		defer os.Setenv(name, os.Getenv(name))
		os.Setenv(name, value)
	}

	storage.MountS3(context.Background())
	f, err := vfs.OpenRegular("s3://bucket/2026/run_R1.cdna")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		log.Fatal(err)
	}
	count("run_R1", f, size)
	// Output:
	// run_R1 6 71
}

// An encrypted archive, wherever it is.
func ExampleOpenReaderAt_encrypted() {
	public, secret, err := keys.GenerateKeyPair()
	if err != nil {
		log.Fatal(err)
	}
	envelope, err := crypt.New(public)
	if err != nil {
		log.Fatal(err)
	}
	vfs.Encrypt = envelope
	dir := archived()
	defer os.RemoveAll(dir)
	vfs.Encrypt = nil

	stored, err := os.ReadFile(dir + "/run_R1.cdna")
	if err != nil {
		log.Fatal(err)
	}
	if envelope, err = crypt.Open(bytes.NewReader(stored), secret); err != nil {
		log.Fatal(err)
	}
	file := envelope.Content(bytes.NewReader(stored), int64(len(stored)))
	count("run_R1", file, file.Size())
	// Output:
	// run_R1 6 71
}

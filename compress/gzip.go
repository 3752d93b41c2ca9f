package compress

import (
	"bytes"
	"errors"
	"io"

	"orcomgo/bins/record"
	"orcomgo/compress/gzexact"
)

// errLargeGzip is the error of DescribeGzip for a description of more than record.MaxGzip bytes.
var errLargeGzip = errors.New("to say how it was compressed would take too much")

// DescribeGzip returns record.Source.Gzip of a gzip file that it reads, by several threads. The error says why the file can't be made again of
// its text.
func DescribeGzip(file io.Reader, threads int) ([]byte, error) {
	var b bounded
	if err := gzexact.Describe(file, &b, threads); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// bounded is a buffer of record.MaxGzip bytes at most.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > record.MaxGzip {
		return 0, errLargeGzip
	}
	return b.Buffer.Write(p)
}

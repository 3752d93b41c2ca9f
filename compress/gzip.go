package compress

import (
	"io"

	"orcomgo/bins/record"
	"orcomgo/compress/gzexact"
)

// DescribeGzip returns record.Source.Gzip of a gzip file that it reads, by several threads. The error says why the file can't be made again of
// its text.
func DescribeGzip(file io.Reader, threads int) ([]byte, error) {
	return gzexact.Describe(file, record.MaxGzip, threads)
}

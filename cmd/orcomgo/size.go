package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// size is a pflag.Value that holds a number of bytes: 1048576, 256MB, 64MiB, 1.5G. K, M, G, T and P
// are powers of 1000, Ki, Mi, Gi, Ti and Pi of 1024; the B and the case don't matter.
type size uint64

func (s *size) Set(text string) error {
	// ParseBytes skips commas, and 1,5G is no 15G.
	v, err := humanize.ParseBytes(strings.TrimSpace(text))
	if err != nil || strings.Contains(text, ",") {
		return errors.New("a size is a number of bytes such as 256MB, 1.5G or 64MiB")
	}
	if v < 1 || v > humanize.EByte {
		return errors.New("a size is between 1 byte and 1 EB")
	}
	*s = size(v)
	return nil
}

func (s *size) Type() string { return "size" }

// String writes the size exactly, so that Set reads it again; humanize rounds.
func (s *size) String() string {
	v := uint64(*s)
	for _, u := range []struct {
		name  string
		scale uint64
	}{{"TB", humanize.TByte}, {"GB", humanize.GByte}, {"MB", humanize.MByte}, {"KB", humanize.KByte},
		{"TiB", humanize.TiByte}, {"GiB", humanize.GiByte}, {"MiB", humanize.MiByte}, {"KiB", humanize.KiByte}} {
		if v >= u.scale && v%u.scale == 0 {
			return strconv.FormatUint(v/u.scale, 10) + u.name
		}
	}
	return strconv.FormatUint(v, 10)
}

// bytesText writes a number of bytes for people, in powers of 1000: three digits.
func bytesText(n uint64) string { return humanize.BytesN(n, 3) }

// countText writes a number with a comma between the thousands.
func countText(n uint64) string { return humanize.Comma(int64(n)) }

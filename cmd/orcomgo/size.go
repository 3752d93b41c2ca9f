package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// size is a flag that holds a number of bytes: 1048576, 256MB, 64MiB, 1.5G. K, M, G and T
// are powers of 1000, Ki, Mi, Gi and Ti of 1024; the B and the case don't matter.
type size uint64

func (s *size) Set(text string) error {
	t := strings.ToUpper(strings.TrimSpace(text))
	number := strings.TrimRight(t, "BIKMGT ")
	unit := strings.TrimSuffix(strings.TrimSpace(t[len(number):]), "B")
	scale, ok := map[string]float64{
		"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12,
		"KI": 1 << 10, "MI": 1 << 20, "GI": 1 << 30, "TI": 1 << 40,
	}[unit]
	v, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || math.IsNaN(v) || strings.Trim(number, "0123456789.") != "" {
		return fmt.Errorf("a size is a number of bytes such as 256MB, 64MiB or 1G")
	}
	if v *= scale; v < 1 || v > 1<<60 {
		return fmt.Errorf("a size is between 1 byte and 1 EiB")
	}
	*s = size(v)
	return nil
}

func (s *size) Type() string { return "size" }

// String writes the size so that Set reads it again.
func (s *size) String() string {
	v := uint64(*s)
	for _, u := range []struct {
		name  string
		scale uint64
	}{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if v >= u.scale && v%u.scale == 0 {
			return strconv.FormatUint(v/u.scale, 10) + u.name
		}
	}
	return strconv.FormatUint(v, 10)
}

// bytesText writes a number of bytes for people: three digits or so, in powers of 1000.
func bytesText(n uint64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	v, unit := float64(n), 0
	for v >= 999.5 && unit < 5 {
		v /= 1000
		unit++
	}
	name := [...]string{"B", "kB", "MB", "GB", "TB", "PB"}[unit]
	switch {
	case v < 9.995:
		return fmt.Sprintf("%.2f %s", v, name)
	case v < 99.95:
		return fmt.Sprintf("%.1f %s", v, name)
	}
	return fmt.Sprintf("%.0f %s", v, name)
}

// countText writes a number with a comma between the thousands.
func countText(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

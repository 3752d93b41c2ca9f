package compress

import (
	"fmt"

	"orcomgo/bins/record"

	"orcomgo/compress/names"
	"orcomgo/compress/quals"
)

// Level is the effort spent on qualities, the largest column. Unpacking reads it from the data.
type Level uint8

// The levels. The zero value is the default.
const (
	LevelDefault Level = iota
	LevelFast
	LevelMax
)

var levelNames = [...]string{LevelDefault: "default", LevelFast: "fast", LevelMax: "max"}

// String returns the level's name as ParseLevel takes it.
func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return fmt.Sprintf("level %d", uint8(l))
}

// ParseLevel returns the level called "fast", "default" or "max".
func ParseLevel(s string) (Level, error) {
	for l, n := range levelNames {
		if s == n {
			return Level(l), nil
		}
	}
	return 0, fmt.Errorf("level %q: expected fast, default or max", s)
}

func (l Level) quals() quals.Level {
	switch l {
	case LevelFast:
		return quals.Fast
	case LevelMax:
		return quals.Max
	}
	return quals.Default
}

// keeps says which columns an input has, by the archive's options and the input's kind.
type keeps struct {
	names, quals, forms bool
}

func keepsOf(o record.Options, kind record.Kind) keeps {
	if o.ReadsOnly {
		return keeps{}
	}
	k := keeps{names: !o.DropNames, forms: true}
	if kind == record.FASTQ {
		k.quals = o.Quality != record.QualityDrop
		// Without qualities the records come back as FASTA, one line a sequence.
		k.forms = k.quals
	}
	return k
}

func encodeNames(b []byte, n int) []byte { return names.Encode(b, n) }

func decodeNames(data []byte, n int, size uint64) ([]byte, error) {
	return exactly(size)(names.Decode(data, n, size))
}

func encodeMateNames(b, first []byte, n int) []byte { return names.EncodeMate(b, first, n) }

func decodeMateNames(data, first []byte, n int, size uint64) ([]byte, error) {
	return exactly(size)(names.DecodeMate(data, first, n, size))
}

// exactly checks the length of what a decoder returned.
func exactly(size uint64) func([]byte, error) ([]byte, error) {
	return func(b []byte, err error) ([]byte, error) {
		if err == nil && uint64(len(b)) != size {
			err = fmt.Errorf("%d bytes where the manifest says %d", len(b), size)
		}
		return b, err
	}
}

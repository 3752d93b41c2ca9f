package binning

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/zeebo/xxh3"

	"orcomgo/bins/record"
)

// mates checks that the inputs of a group, a pair or more, belong together: that they have equally many records,
// and equal names. Digests of names are kept until those of their mates are added.
type mates map[int]*group // by the index of the input with the first mates

// group is what is known of the members of a group, first mates first.
type group struct {
	members []*input
	records []uint64
	ended   []bool
	names   [][]uint64 // digests of names that were not compared yet
}

// digests appends a digest of each name: of what comes before the first space or tab,
// without /1, /2, /3 or /4 at its end.
func digests(dst []uint64, names []byte) []uint64 {
	for len(names) > 0 {
		n := bytes.IndexByte(names, '\n')
		name := names[:n]
		names = names[n+1:]
		dst = append(dst, xxh3.Hash(mateName(name)))
	}
	return dst
}

// MateError is an error about inputs that are no mates of each other.
type MateError struct{ error }

func mateErrorf(format string, args ...any) error { return &MateError{fmt.Errorf(format, args...)} }

// SameFirstName reports whether the first records of two files can be mates by their names.
func SameFirstName(a, b string) bool {
	name := namesOf(a, 1, 1)[0]
	return name != nil && bytes.Equal(mateName(name), mateName(namesOf(b, 1, 1)[0]))
}

// MateNumber returns which mates a file has by the name of its first record, such as 2 of r/2 and of "r 2:N:0:"; 0 if that does not say.
func MateNumber(path string) int {
	name := namesOf(path, 1, 1)[0]
	number := name[len(mateName(name)):]
	if len(number) < 2 || number[0] != '/' && (len(number) < 3 || number[2] != ':') || number[1] < '1' || number[1] > '4' {
		return 0
	}
	return int(number[1] - '0')
}

// interleavedNames is how many records of a file are looked at to see whether first and second mates alternate.
const interleavedNames = 8

// recognizeInterleaved marks the inputs that begin with the mates of pairs in turn. If one goes on otherwise, all inputs have to be read
// again.
func (c *Config) recognizeInterleaved() {
	if c.Unpaired || c.readableOnce() != "" {
		return
	}
	for i := range c.Inputs {
		in := &c.Inputs[i]
		switch {
		case in.hasMates() || !beginsInterleaved(in.Path):
		case c.Options.OrderAny:
			c.Note(in.Path + " begins with interleaved mates, which --order any does not keep together")
		default:
			in.Interleaved = true
		}
	}
}

// beginsInterleaved reports whether the first records of a file have the names of mates in twos.
func beginsInterleaved(path string) bool {
	names := namesOf(path, 1, interleavedNames)
	for i, name := range names {
		if i > 0 && bytes.Equal(mateName(name), mateName(names[i-1])) != (i%2 == 1) {
			return false
		}
	}
	return names[interleavedNames-1] != nil
}

// notInterleaved says why a file that begins with the mates of pairs in turn is not one of these.
type notInterleaved string

func (e notInterleaved) Error() string { return string(e) }

// checkInterleaved returns a notInterleaved unless the names of a block, each followed by '\n', are those of mates in twos; number is that
// of the first record.
func checkInterleaved(path string, number uint64, names []byte) error {
	for ; len(names) > 0; number += 2 {
		first, rest, _ := bytes.Cut(names, []byte{'\n'})
		second, after, found := bytes.Cut(rest, []byte{'\n'})
		switch {
		case !found:
			return notInterleaved(fmt.Sprintf("%s: record %d: expected its mate after it, found the end of the file", path, number))
		case !bytes.Equal(mateName(first), mateName(second)):
			return notInterleaved(fmt.Sprintf("%s: record %d: expected the mate of %q, found %q", path, number+1, first, second))
		}
		names = after
	}
	return nil
}

func mateName(name []byte) []byte {
	if i := bytes.IndexAny(name, " \t"); i >= 0 {
		name = name[:i]
	}
	if n := len(name); n >= 2 && name[n-2] == '/' && name[n-1] >= '1' && name[n-1] <= '4' {
		name = name[:n-2]
	}
	return name
}

// hasMates reports whether an input is of a group.
func (s *InputSpec) hasMates() bool { return s.Mate >= 0 || s.Further }

// FirstOf returns the number of the input with the first mates of the group of input i, whose spec this is, or i.
func (s *InputSpec) FirstOf(i int) int {
	in := record.Input{Mate: s.Mate, First: s.First, Further: s.Further, Lead: s.Lead}
	return in.FirstOf(i)
}

// groupOf returns the inputs of a group, given that with the first mates: first, second and further mates, these in their order.
func groupOf(inputs []*input, lead *input) []*input {
	members := []*input{lead}
	if lead.spec.Mate >= 0 {
		members = append(members, inputs[lead.spec.Mate])
	}
	for _, in := range inputs {
		if in.spec.Further && in.spec.Lead == lead.index {
			members = append(members, in)
		}
	}
	return members
}

// add adds the names of a block, and compares those whose mates have been added.
func (m mates) add(inputs []*input, in *input, s *stream, last bool) error {
	if !in.spec.hasMates() {
		return nil
	}
	first := inputs[in.spec.FirstOf(in.index)]
	g := m[first.index]
	if g == nil {
		members := groupOf(inputs, first)
		n := len(members)
		g = &group{members, make([]uint64, n), make([]bool, n), make([][]uint64, n)}
		m[first.index] = g
	}
	mate := slices.Index(g.members, in)
	g.names[mate] = append(g.names[mate], s.names...)
	g.records[mate] += uint64(len(s.names))
	g.ended[mate] = last
	if err := g.checkCounts(); err != nil { // now, because names without mates would fill the memory
		return err
	}
	n := len(g.names[0])
	for _, names := range g.names {
		n = min(n, len(names))
	}
	for k, names := range g.names[1:] {
		for i := range n {
			if names[i] != g.names[0][i] {
				number := g.records[mate] - uint64(len(g.names[mate])) + uint64(i) + 1
				path, other := g.members[k+1].spec.Path, first.spec.Path
				return mateErrorf("%s: record %d: expected the mate of record %d of %s, found another name%s",
					path, number, number, other, bothNames(path, names[i], other, g.names[0][i], number))
			}
		}
	}
	for i := range g.names {
		g.names[i] = g.names[i][:copy(g.names[i], g.names[i][n:])]
	}
	return nil
}

// bothNames reads the names of two records of the same number again, which have these digests, for a message: "" if that can't be done.
func bothNames(path string, digest uint64, other string, otherDigest, number uint64) string {
	name, lead := namesOf(path, number, 1)[0], namesOf(other, number, 1)[0]
	if xxh3.Hash(mateName(name)) != digest || xxh3.Hash(mateName(lead)) != otherDigest {
		return ""
	}
	return fmt.Sprintf(": %q, not %q", name, lead)
}

// namesOf returns the names of n records, the first of which is counted from 1, of a file of FASTQ that has four lines a record, or the
// first name of a file of FASTA; nil for each that is not there.
func namesOf(path string, number uint64, n int) [][]byte {
	names := make([][]byte, n)
	if !regular(path) {
		return names
	}
	in, err := OpenText(context.Background(), path, 1)
	if err != nil {
		return names
	}
	defer in.Close()
	lines := bufio.NewScanner(in)
	for line, k := uint64(0), 0; k < n && lines.Scan(); line++ {
		if line >= 4*(number-1) && line%4 == 0 {
			name, _ := bytes.CutPrefix(lines.Bytes(), []byte("@"))
			name, _ = bytes.CutPrefix(name, []byte(">"))
			names[k] = bytes.Clone(bytes.TrimSuffix(name, []byte("\r")))
			k++
		}
	}
	return names
}

// checkKinds checks that mates have qualities if the first ones do.
func checkKinds(inputs []*input) error {
	for _, in := range inputs {
		first := in
		if in.spec.Mate >= 0 && !in.spec.First {
			first = inputs[in.spec.Mate]
		} else if in.spec.Further {
			first = inputs[in.spec.Lead]
		}
		if is, others := in.info.Kind.Format(), first.info.Kind.Format(); is.Quals != others.Quals {
			return mateErrorf("%s: expected %s, as the mates in %s are, found %s", in.spec.Path, others.Name, first.spec.Path, is.Name)
		}
	}
	return nil
}

// checkCounts checks that the inputs of each group have the same number of records.
func (m mates) checkCounts(inputs []*input) error {
	for _, in := range inputs {
		if g := m[in.index]; g != nil {
			if err := g.checkCounts(); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkCounts checks that no input that has ended has fewer records than another.
func (g *group) checkCounts() error {
	short := -1
	for i, ended := range g.ended {
		if ended && (short < 0 || g.records[i] < g.records[short]) {
			short = i
		}
	}
	if short < 0 {
		return nil
	}
	n := g.records[short]
	long := slices.IndexFunc(g.records, func(records uint64) bool { return records > n })
	if long < 0 {
		return nil
	}
	return mateErrorf("%s: record %d: expected a mate of record %d of %s, found the end of the file",
		g.members[short].spec.Path, n+1, n+1, g.members[long].spec.Path)
}

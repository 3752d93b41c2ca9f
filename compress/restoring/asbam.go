package restoring

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"orcomgo/bins/bam"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/source"
	"orcomgo/internal/deflate"
)

// bamMaker makes unaligned BAM of records of any format.
type bamMaker struct {
	man     *archive.Manifest
	first   int             // the first input that is asked for
	headers [][]byte        // by input, compressed
	groups  map[string]bool // read groups that records may have
}

// mostGroups is how many read groups are taken from names. If there are more, what begins the names is none.
const mostGroups = 256

// groupOf returns the part of a name that says in which run and lane of an instrument the read was made, as names of Illumina, PacBio or
// archives of runs have it; nil if it does not say so.
func groupOf(name []byte) []byte {
	word, _, _ := bytes.Cut(name, []byte{' '})
	for _, c := range []struct {
		separator byte
		more      int // separators after the group, at least
		fields    int // that the group has
	}{{':', 6, 4}, {':', 4, 2}, {'/', 2, 1}} {
		if bytes.Count(word, []byte{c.separator}) < c.more {
			continue
		}
		at := 0
		for range c.fields {
			at += bytes.IndexByte(word[at:], c.separator) + 1
		}
		return word[:at-1]
	}
	if run, number, ok := bytes.Cut(word, []byte{'.'}); ok && len(run) > 0 && len(bytes.Trim(number, "0123456789/.")) == 0 {
		return run
	}
	return nil
}

// makeBAM prepares for BAM that is not restored as it was. It reads names, to list read groups.
func (u *unpacker) makeBAM(ctx context.Context) error {
	u.made = &bamMaker{man: u.man, first: slices.Index(u.sel.asked, true), headers: make([][]byte, len(u.man.Inputs)),
		groups: make(map[string]bool)}
	q := Query{Inputs: []int{}, Want: WantNames}
	kept := 0 // inputs that are BAM already
	for i, asked := range u.sel.asked {
		if !asked {
			continue
		}
		if u.man.Inputs[i].Kind != record.BAM {
			q.Inputs = append(q.Inputs, i)
			continue
		}
		if kept++; u.asBAM(i) {
			continue // the header comes with the records
		}
		header, err := u.headerOf(ctx, i)
		if err != nil {
			return err
		}
		u.made.headers[i] = deflate.AppendBGZF(nil, header)
	}
	if u.o.Stream != nil && kept > 0 && kept+len(q.Inputs) > 1 {
		return fmt.Errorf("%s: each of its BAM inputs has its own header, so one stream takes one of them: choose one by --input",
			u.src.Paths()[0])
	}
	return u.made.findGroups(ctx, newReader(u.src, ReaderOptions{Threads: u.o.Threads, Memory: u.o.Memory}), q)
}

// findGroups finds the read groups of inputs, and makes headers that list them.
func (k *bamMaker) findGroups(ctx context.Context, r *Reader, q Query) error {
	var list []string
	if !k.man.Options.DropNames && !k.man.Options.ReadsOnly && len(q.Inputs) > 0 {
		for rec, err := range r.Records(ctx, q) {
			if err != nil {
				return err
			}
			if g := groupOf(rec.Name); g != nil && !k.groups[string(g)] {
				k.groups[string(g)] = true
				list = append(list, string(g))
			}
			if len(list) > mostGroups {
				list, k.groups = nil, nil
				break
			}
		}
	}
	for _, i := range q.Inputs {
		in := &k.man.Inputs[i]
		sample := sampleOf(in)
		if sample == "" {
			sample, _ = record.CutTextExt(in.Name)
		}
		sample = strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f {
				return '_'
			}
			return r
		}, sample)
		text := "@HD\tVN:1.6\tSO:unknown\n"
		for _, g := range append(list, unnamedGroup) {
			if g != unnamedGroup || len(list) == 0 {
				text += "@RG\tID:" + g + "\tSM:" + sample + "\n"
			}
		}
		k.headers[i] = deflate.AppendBGZF(nil, bam.Header(text))
	}
	return nil
}

// unnamedGroup is the read group of records whose names have none.
const unnamedGroup = "1"

// headerOf returns the header of an input that is BAM.
func (u *unpacker) headerOf(ctx context.Context, input int) ([]byte, error) {
	for i := range u.man.Slices {
		s := &u.man.Slices[i]
		for m, mem := range s.Texts() {
			if mem.Input != input || s.From > 0 {
				continue
			}
			d := source.Demand{Slice: i, First: 1}
			d.Want[m] = true
			b, err := u.src.Pass([]source.Demand{d}).Decode(ctx, d)
			if err == nil {
				err = b.Err[m]
			}
			if err != nil {
				return nil, err
			}
			text, err := b.Text(nil, u.man, m, nil)
			if err != nil {
				return nil, err
			}
			n, err := bam.HeaderSize(text)
			return text[:n], err
		}
	}
	return bam.Header(""), nil
}

// append appends the records of c in spans as BAM, and returns where each ends in what it appends. What follows the first word of a name
// is in a tag CO.
func (k *bamMaker) append(dst []byte, c *columns.Columns, spans []columns.Span) (_ []byte, ends []int, err error) {
	b, err := NewBatch(c, spans, true)
	if err != nil {
		return dst, nil, err
	}
	in, start := &k.man.Inputs[c.Input], len(dst)
	var fields, none []byte
	for i := range b.Len() {
		r := b.Record(i)
		name, comment, _ := bytes.Cut(r.Name, []byte{' '})
		group := unnamedGroup
		if g := groupOf(name); g != nil && k.groups[string(g)] {
			group = string(g)
		}
		mate := 0
		switch {
		case in.Interleaved:
			mate = 1 + int(r.Number&1)
		case in.Mate >= 0 && in.First:
			mate = 1
		case in.Mate >= 0:
			mate = 2
		}
		if mate > 0 {
			name = bytes.TrimSuffix(name, []byte{'/', '0' + byte(mate)})
		}
		quals := r.Quals
		if fields = bam.Fields(fields[:0], mate, quals != nil); quals == nil {
			for len(none) < len(r.Bases) {
				none = append(none, '!')
			}
			quals = none[:len(r.Bases)]
		}
		fields = bam.AppendTag(fields, "RG", []byte(group))
		if len(comment) > 0 {
			fields = bam.AppendTag(fields, "CO", comment)
		}
		if len(name) == 0 {
			name = []byte{'*'}
		}
		ok := bytes.IndexByte(r.Name, 0) < 0 && bytes.IndexByte(r.Bases, '.') < 0 // which AppendRecord takes for '='
		if ok {
			dst, ok = bam.AppendRecord(dst, name, r.Bases, quals, fields)
		}
		if !ok {
			return dst, nil, fmt.Errorf("record %d can't be BAM: its name has more than 254 bytes, or its sequence other letters than "+
				"ACGTN and those of ambiguity (upper case)", r.Number+1)
		}
		ends = append(ends, len(dst)-start)
	}
	return dst, ends, nil
}

package main

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"

	"orcomgo/binning"
	"orcomgo/bins/record"
)

// parts are the first parts of the inputs of an archive, in files.
type parts struct {
	dir        string // "" if there are none
	whole      bool   // full are the inputs themselves, and half is nil
	full, half []binning.InputSpec
	text       uint64            // of the inputs, about
	index      uint64            // of that, of further mates such as reads of an index
	paths      map[string]string // from those of the parts to those of the inputs
}

// leastPart is how much text of an input is measured at least.
const leastPart = 1 << 16

// cut writes the first part of each input to a file, all together as long as --sample, and half of that to another one. Mates have
// the same number of records. Where an input can't be cut, or has fewer records than its mates, all are taken as a whole. So are inputs
// of up to one and a half times --sample: to archive them takes no longer than to archive the sample and half of it.
func (p *plan) cut(ctx context.Context, inputs []binning.InputSpec) (*parts, error) {
	all := &parts{whole: true, full: inputs}
	list := make([]*benchSample, len(inputs))
	most := int(min(uint64(p.sample), 1<<40))
	for i, in := range inputs {
		s, err := p.first(ctx, in.Path, max(most/len(inputs), leastPart))
		if s == nil {
			return all, err
		}
		list[i] = s
		all.whole = all.whole && s.whole
		all.text += s.allText()
		if in.Further {
			all.index += s.allText()
		}
	}
	if all.whole = all.whole || all.text <= uint64(most+most/2); all.whole {
		return all, nil
	}
	// Records of an index are short: its mates may have more of the sample than it.
	all.whole = true
	for i, s := range list {
		n := int(float64(most) * float64(s.allText()) / float64(max(all.text, 1)))
		if n > len(s.text) && !s.whole {
			more, err := p.first(ctx, s.path, n+n/spareText)
			if more == nil {
				return all, err
			}
			list[i] = more
		}
		all.whole = all.whole && list[i].whole
	}
	if all.whole = all.whole || uneven(inputs, list); all.whole {
		return all, nil
	}
	return all, all.write(p.dir, inputs, list)
}

// unevenShare is by which share of it the number of records may be wrong that is expected of an input.
const unevenShare = 0.1

// uneven reports whether an input that was read to its end seems to have more or fewer records than its mates. Archive would end with an
// error where the shorter one ends, and so does a trial of the inputs as a whole.
func uneven(inputs []binning.InputSpec, list []*benchSample) bool {
	records := func(s *benchSample) float64 { // that are expected of all of it
		return float64(countRecords(s.text, s.kind)) * float64(s.allText()) / float64(max(len(s.text), 1))
	}
	for i, s := range list {
		lead := list[leadOf(inputs, i)]
		a, b := records(s), records(lead)
		if s.whole != lead.whole && math.Abs(a-b) > unevenShare*max(a, b) {
			return true
		}
	}
	return false
}

// spareText is for what share of the text more of it is read, since how much there is in a file is not known exactly.
const spareText = 64

// first reads so many bytes of the text of an input, or less. It returns nil if that can't be cut.
func (p *plan) first(ctx context.Context, path string, n int) (*benchSample, error) {
	s, err := readSample(ctx, path, n, p.each.threads)
	var empty *emptyInput
	var uncut *uncutInput
	switch {
	case errors.As(err, &empty):
		return &benchSample{path: path, whole: true}, nil
	case errors.As(err, &uncut):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return s, nil
}

// write writes the parts to a new directory.
func (all *parts) write(dir string, inputs []binning.InputSpec, list []*benchSample) (err error) {
	if all.dir, err = os.MkdirTemp(dir, "part"); err != nil {
		return cause(err)
	}
	all.paths = make(map[string]string)
	records := make([]int, len(inputs)) // of each input, as many as its mates have
	for i, s := range list {
		lead := leadOf(inputs, i)
		if n := countRecords(s.text, s.kind); i == lead || n < records[lead] {
			records[lead] = n
		}
	}
	part := func(name string, share int) ([]binning.InputSpec, error) {
		specs := make([]binning.InputSpec, len(inputs))
		sub := filepath.Join(all.dir, name)
		if err := os.Mkdir(sub, 0o700); err != nil {
			return nil, cause(err)
		}
		for i, in := range inputs {
			specs[i] = in
			specs[i].Path = filepath.Join(sub, binning.RestoredName(in.Path))
			all.paths[specs[i].Path] = in.Path
			text := firstRecords(list[i].text, list[i].kind, records[leadOf(inputs, i)]/share)
			if err := os.WriteFile(specs[i].Path, text, 0o600); err != nil {
				return nil, cause(err)
			}
		}
		return specs, nil
	}
	if all.full, err = part("full", 1); err == nil {
		all.half, err = part("half", 2)
	}
	return err
}

// original returns an error about a part as one about the input.
func (all *parts) original(err error) error {
	text := err.Error()
	for part, path := range all.paths {
		if rest, ok := strings.CutPrefix(text, part); ok {
			return errors.New(path + rest)
		}
	}
	return err
}

// leadOf returns the number of the input with the first mates of input i, or i.
func leadOf(inputs []binning.InputSpec, i int) int {
	switch in := inputs[i]; {
	case in.Further:
		return in.Lead
	case in.Mate >= 0 && !in.First:
		return in.Mate
	}
	return i
}

// countRecords returns how many records there are in a text that recordsEnd cut.
func countRecords(text []byte, kind record.Kind) int {
	if kind == record.FASTQ {
		return bytes.Count(text, []byte{'\n'}) / 4
	}
	if len(text) == 0 {
		return 0
	}
	return 1 + bytes.Count(text, []byte{'\n', kind.Format().Mark})
}

// firstRecords returns the first n records of such a text.
func firstRecords(text []byte, kind record.Kind, n int) []byte {
	mark, at := []byte{'\n'}, 0
	if kind == record.FASTQ {
		n *= 4
	} else {
		mark = append(mark, kind.Format().Mark)
	}
	for ; n > 0; n-- {
		i := bytes.Index(text[at:], mark)
		if i < 0 {
			return text
		}
		at += i + 1
	}
	return text[:at]
}

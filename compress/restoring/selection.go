package restoring

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"

	"orcomgo/bins/commit"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/source"
)

// selection is what Unpack restores.
type selection struct {
	asked   []bool          // by input
	records [][]RecordRange // by input, nil: all; equal for mates
}

// selectRecords finds out which records o asks for. It reads names if it has to.
func selectRecords(ctx context.Context, src source.Source, o *UnpackOptions) (*selection, error) {
	man := src.Manifest()
	s := &selection{records: make([][]RecordRange, len(man.Inputs))}
	var err error
	if s.asked, err = askedInputs(man, o); err != nil {
		return nil, fmt.Errorf("%s: %w", src.Paths()[0], err)
	}
	if o.Records != nil {
		most := uint64(0)
		for i := range man.Inputs {
			s.records[i] = []RecordRange{*o.Records}
			if s.asked[i] {
				most = max(most, man.Inputs[i].Records)
			}
		}
		if most <= o.Records.From {
			return nil, fmt.Errorf("%s: the archive has no record %d: its inputs have %d at most", src.Paths()[0], o.Records.From+1, most)
		}
	}
	if o.Chosen != nil {
		s.choose(man, o.Chosen)
		return s, nil
	}
	if o.Names == nil {
		return s, nil
	}
	q := Query{}
	if o.Records != nil {
		q.Records = []RecordRange{*o.Records}
	}
	q.Inputs = []int{}
	leads := make(map[int]bool) // of the inputs that are asked for: the names of all mates count
	for i, asked := range s.asked {
		if asked {
			leads[man.Inputs[i].FirstOf(i)] = true
		}
	}
	for i := range man.Inputs {
		if leads[man.Inputs[i].FirstOf(i)] {
			q.Inputs = append(q.Inputs, i)
		}
	}
	r := newReader(src, ReaderOptions{Threads: o.Threads, Memory: o.Memory})
	if s.records, err = r.matchNames(ctx, q, o.Progress, o.Names.slicesWith(man), o.Names.Matches); err != nil {
		return nil, err
	}
	for i, list := range s.records {
		if s.asked[i] && len(list) > 0 {
			return s, nil
		}
	}
	return nil, fmt.Errorf("%s: no record has a name that is asked for: %s", src.Paths()[0],
		cmp.Or(o.Names.Missing(), "no name of these inputs matches"))
}

// choose selects records and their mates.
func (s *selection) choose(man *archive.Manifest, places []Place) {
	of := make([][]RecordRange, len(man.Inputs)) // by the input with the first mates
	for _, p := range places {
		lead := man.Inputs[p.Input].FirstOf(p.Input)
		r := RecordRange{p.Record, p.Record + 1}
		if man.Inputs[p.Input].Interleaved {
			r = RecordRange{p.Record &^ 1, p.Record&^1 + 2}
		}
		of[lead] = append(of[lead], r)
	}
	for i := range of {
		slices.SortFunc(of[i], func(a, b RecordRange) int { return cmp.Compare(a.From, b.From) })
		of[i] = slices.Compact(of[i])
	}
	for i := range s.records {
		s.records[i] = of[man.Inputs[i].FirstOf(i)]
		s.asked[i] = s.asked[i] && len(s.records[i]) > 0
		if s.records[i] == nil {
			s.records[i] = []RecordRange{}
		}
	}
}

// askedInputs returns which inputs o asks for.
func askedInputs(man *archive.Manifest, o *UnpackOptions) ([]bool, error) {
	asked := make([]bool, len(man.Inputs))
	used, of := make([]bool, len(o.Inputs)), make([]bool, len(o.Samples))
	any, mates := false, false
	for i := range asked {
		in := &man.Inputs[i]
		asked[i] = len(o.Inputs) == 0
		for k, pattern := range o.Inputs {
			names := []string{in.Name}
			if in.Source != nil && in.Source.Name != "" {
				names = append(names, in.Source.Name)
			}
			for _, name := range names {
				if match, _ := path.Match(pattern, name); match || pattern == name { // UnpackOptions.check has looked at it
					asked[i], used[k] = true, true
				}
			}
		}
		if k := slices.Index(o.Samples, sampleOf(in)); k >= 0 {
			of[k] = true
		} else if len(o.Samples) > 0 {
			asked[i] = false
		}
		mates = mates || in.Mate >= 0
		if in.Kind == record.BAM && in.Mate < 0 && !in.Further {
			mates = true // its records say which mates they are
		} else if o.Mate > 0 && (in.Mate < 0 || in.Further || in.First != (o.Mate == 1)) {
			asked[i] = false
		}
		any = any || asked[i]
	}
	for k, ok := range used {
		if !ok {
			return nil, fmt.Errorf("no input is called %s: there are %s", o.Inputs[k], inputNames(man))
		}
	}
	for k, ok := range of {
		if !ok {
			return nil, fmt.Errorf("no sample is called %s%s", o.Samples[k], sampleNames(man))
		}
	}
	switch {
	case len(asked) == 0 || any:
		return asked, nil
	case len(o.Samples) > 0 && len(o.Inputs) > 0:
		return nil, fmt.Errorf("the samples have none of the inputs that are asked for")
	case !mates:
		return nil, fmt.Errorf("its inputs have no mates")
	}
	return nil, fmt.Errorf("none of the inputs that are asked for has mates number %d", o.Mate)
}

// sampleOf returns the name of the sample that an input belongs to, "" if it is not recorded.
func sampleOf(in *archive.Input) string {
	if in.Source == nil {
		return ""
	}
	return in.Source.Sample
}

// inputNames lists the inputs for messages.
func inputNames(man *archive.Manifest) string {
	var names []string
	for i := range man.Inputs {
		names = append(names, man.Inputs[i].Name)
	}
	return commit.FirstNames(names, 8)
}

// sampleNames lists the samples for messages, after a colon.
func sampleNames(man *archive.Manifest) string {
	var names []string
	for i := range man.Inputs {
		if s := sampleOf(&man.Inputs[i]); s != "" && !slices.Contains(names, s) {
			names = append(names, s)
		}
	}
	if names == nil {
		return ": it is not an archive of several samples"
	}
	return ": there are " + commit.FirstNames(names, 8)
}

// whole reports whether all records of an input are restored.
func (s *selection) whole(input int) bool { return s.asked[input] && s.records[input] == nil }

// count returns how many records of an input are restored.
func (s *selection) count(man *archive.Manifest, input int) uint64 {
	n := man.Inputs[input].Records
	switch {
	case !s.asked[input]:
		return 0
	case s.records[input] == nil:
		return n
	}
	sum := uint64(0)
	for _, r := range s.records[input] {
		sum += min(r.To, n) - min(r.From, n)
	}
	return sum
}

package restoring

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"orcomgo/bins/bam"
	"orcomgo/bins/commit"
	"orcomgo/bins/record"
	"orcomgo/bins/vfs"
	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/source"
	"orcomgo/compress/workers"
)

// Salvaged is a file that Salvage wrote.
type Salvaged struct {
	Path    string `json:"path"`
	Records uint64 `json:"records"`
	Missing string `json:"missing,omitempty"` // what its records lack
}

// salvageFiles are the files that records of an input may be in, by what of them is lost: Salvaged.Missing, and the end of the name. The
// first one is for records that are whole, the last one for those without sequences.
var salvageFiles = [...]struct{ missing, suffix string }{
	{"", ".salvaged"}, {"names", ".without_names"}, {"qualities", ".without_qualities"},
	{"names and qualities", ".without_names_and_qualities"}, {"sequences", ".without_sequences"},
}

// Which of salvageFiles.
const (
	salvagedWhole = iota
	salvagedNoNames
	salvagedNoQuals
	salvagedOnlySeqs
	salvagedNoSeqs
)

// salvagedPart is what is whole of the records of a member of a slice.
type salvagedPart struct {
	file    int    // of salvageFiles
	text    []byte // nil if nothing is whole
	missing string // what is not, for the list
}

// salvagedInput are the files of an input.
type salvagedInput struct {
	name    string
	files   [len(salvageFiles)]*outFile
	records [len(salvageFiles)]uint64
	list    strings.Builder // of what is missing
}

// Salvage restores what is whole of each record of the archive that path leads to, though its manifests may be lost: to files of o.OutDir
// with whole records, and with those that lack names (they have numbers then), qualities or sequences, and a list of what is missing.
func Salvage(ctx context.Context, path string, o UnpackOptions) ([]Salvaged, error) {
	e, err := commit.One(path)
	if err != nil {
		return nil, err
	}
	src, err := source.OpenEntry(e, o.Threads, o.Memory)
	if IsDamage(err) && e.Has[commit.Packed] {
		var r *archive.Reader
		if r, err = archive.OpenScan(e); err == nil {
			src = source.NewPacked(r, workers.NewPool(o.Threads), o.Memory)
		}
	}
	if err != nil {
		return nil, err
	}
	defer src.Close()
	made, err := commit.MakeDir(o.OutDir)
	if err != nil {
		return nil, err
	}
	list, err := salvage(ctx, src, &o)
	if err != nil {
		made.Undo()
	}
	return list, err
}

func salvage(ctx context.Context, src source.Source, o *UnpackOptions) (list []Salvaged, err error) {
	man := src.Manifest()
	inputs := make([]*salvagedInput, len(man.Inputs))
	for i := range inputs {
		inputs[i] = &salvagedInput{name: man.Inputs[i].Name}
		inputs[i].list.WriteString("from\tto\tmissing\n")
	}
	defer func() {
		for _, in := range inputs {
			for _, f := range in.files {
				f.abort()
			}
		}
	}()
	var texts []uint64
	demands := make([]source.Demand, len(man.Slices))
	for i := range man.Slices {
		texts = append(texts, source.SliceBytes(man, i))
		demands[i] = source.Demand{Slice: i, Want: [2]bool{true, true}}
	}
	decoder := src.Pass(demands)
	produce := func(ctx context.Context, i int) (parts [2]salvagedPart, err error) {
		for m := range man.Slices[i].Texts() {
			if parts[m], err = salvagePart(ctx, man, decoder, i, m); err != nil {
				return parts, err
			}
		}
		return parts, nil
	}
	consume := func(i int, parts [2]salvagedPart) error {
		s := &man.Slices[i]
		for m, mem := range s.Texts() {
			if err := inputs[mem.Input].add(src, o, s, &parts[m]); err != nil {
				return err
			}
		}
		return nil
	}
	flight := workers.InFlight(o.Threads, o.Memory, texts)
	if err := workers.InOrder(ctx, len(man.Slices), flight, produce, consume); err != nil {
		return nil, err
	}
	for _, in := range inputs {
		files, err := in.end(src, o)
		if err != nil {
			return list, err
		}
		list = append(list, files...)
	}
	return list, vfs.SyncDir(o.OutDir)
}

// salvagePart returns what is whole of member m of slice i.
func salvagePart(ctx context.Context, man *archive.Manifest, decoder source.Decoder, i, m int) (part salvagedPart, err error) {
	s := &man.Slices[i]
	in := &man.Inputs[s.Members()[m].Input]
	decode := func(k columns.Kept) (*source.Decoded, error) {
		d := source.Demand{Slice: i, Columns: k}
		d.Want[m] = true
		return decoder.Decode(ctx, d)
	}
	b, err := decode(columns.Kept{})
	if err != nil {
		return part, err
	}
	if b.Err[m] == nil {
		if part.text, err = b.Text(nil, man, m, nil); err == nil && in.Kind == record.BAM {
			part.missing = "tags"
			part.text, _, err = bam.Choice{}.Append(nil, part.text, s.From == 0, nil)
		}
		if err == nil {
			return part, nil
		}
	}
	kept := columns.KeptOf(man.Options, in.Kind)
	all := &columns.Columns{Input: s.Members()[m].Input, From: s.From, Records: s.Records}
	var lost []string
	whole := func(c archive.Column, take func(c *columns.Columns)) bool {
		if !kept[c] {
			return true
		}
		wanted := columns.Kept{archive.Lengths: c == archive.Quals || c == archive.Seqs}
		wanted[c] = true
		b, decodeErr := decode(wanted)
		if decodeErr != nil {
			err = decodeErr
			return false
		}
		if b.Err[m] != nil {
			lost = append(lost, c.String())
			return false
		}
		take(b.Cols[m])
		return true
	}
	kind := in.Kind
	if kind == record.BAM {
		kind, lost = record.FASTQ, []string{"tags"}
	} else {
		whole(archive.Forms, func(c *columns.Columns) { all.Forms = c.Forms })
	}
	names := whole(archive.Names, func(c *columns.Columns) { all.Names = c.Names })
	quals := whole(archive.Quals, func(c *columns.Columns) { all.Quals, all.Lengths = c.Quals, c.Lengths })
	seqs := whole(archive.Seqs, func(c *columns.Columns) { all.Letters, all.TwoBit, all.Lengths = c.Letters, c.TwoBit, c.Lengths })
	if err != nil {
		return part, err
	}
	part.missing = strings.Join(lost, ", ")
	rendering := record.RenderingOf(man.Options, in.Kind)
	switch {
	case !seqs:
		part.file = salvagedNoSeqs
		part.text = namesAndQuals(all, names && kept[archive.Names], quals && kept[archive.Quals])
		return part, nil
	case !quals && !names:
		part.file, rendering = salvagedOnlySeqs, record.AsFASTA
	case !quals:
		part.file, rendering = salvagedNoQuals, record.AsFASTA
	case !names:
		part.file = salvagedNoNames
	}
	part.text, err = columns.Render(nil, rendering, kind, all, nil)
	return part, err
}

// namesAndQuals returns a line for each record: its number, name and qualities, as far as they are there; nil if neither is.
func namesAndQuals(c *columns.Columns, names, quals bool) (text []byte) {
	if !names && !quals {
		return nil
	}
	left, q := c.Names, c.Quals
	for i := range c.Records {
		text = append(strconv.AppendUint(text, c.From+uint64(i)+1, 10), '\t')
		if names {
			n := columns.AfterNames(left, 1)
			text, left = append(text, left[:n-1]...), left[n:]
		}
		text = append(text, '\t')
		if quals {
			n := c.Lengths.Of(i)
			text, q = append(text, q[:n]...), q[n:]
		}
		text = append(text, '\n')
	}
	return text
}

// add writes what is whole of the records of a slice.
func (in *salvagedInput) add(src source.Source, o *UnpackOptions, s *archive.Slice, p *salvagedPart) error {
	if p.missing != "" || p.text == nil {
		fmt.Fprintf(&in.list, "%d\t%d\t%s\n", s.From+1, s.From+uint64(s.Records), p.missing)
	}
	if p.text == nil {
		return nil
	}
	f := &in.files[p.file]
	if *f == nil {
		ext := ".fastq"
		switch {
		case p.file == salvagedNoSeqs:
			ext = ".tsv"
		case p.text[0] == '>':
			ext = ".fasta"
		case p.text[0] != '@':
			ext = ".reads"
		}
		var err error
		if *f, err = newOutFile(o.OutDir, in.name+salvageFiles[p.file].suffix+ext, src, o); err != nil {
			return err
		}
	}
	in.records[p.file] += uint64(s.Records)
	return (*f).write(p.text, nil)
}

// end completes the files and gives them their names.
func (in *salvagedInput) end(src source.Source, o *UnpackOptions) (list []Salvaged, err error) {
	missing, err := newOutFile(o.OutDir, in.name+".missing.tsv", src, o)
	if err != nil {
		return nil, err
	}
	defer missing.abort()
	if err := missing.write([]byte(in.list.String()), nil); err != nil {
		return nil, err
	}
	for i, f := range append(in.files[:], missing) {
		if f == nil {
			continue
		}
		if err := f.finish(nil); err != nil {
			return list, err
		}
		if err := f.name(o.Force); err != nil {
			return list, err
		}
		if f != missing {
			list = append(list, Salvaged{Path: f.path, Records: in.records[i], Missing: salvageFiles[i].missing})
		}
	}
	return append(list, Salvaged{Path: missing.path}), nil
}

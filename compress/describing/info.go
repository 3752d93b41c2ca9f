// Package describing says what is in an archive, how its reads are laid out, and whether it was made of some inputs.
package describing

import (
	"fmt"
	"math"
	"time"

	"orcomgo/bins"
	"orcomgo/bins/commit"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/compress/restoring"
	"orcomgo/compress/slicing"
	"orcomgo/compress/source"
	"orcomgo/digest"
)

// Information is what Info returns about an archive; as JSON it is for scripts.
type Information struct {
	Name          string `json:"name"`
	Stage         string `json:"stage"` // "binned" or "packed"
	Tool          string `json:"tool"`
	FormatVersion int    `json:"format_version"`
	ID            string `json:"id"`
	BinsID        string `json:"bins_id"` // of the bins that were packed, or of these
	BinsKept      bool   `json:"bins_kept"`

	ReadsOnly bool   `json:"reads_only"`
	Order     string `json:"order"`   // "original" or "any"
	Names     string `json:"names"`   // "keep" or "drop"
	Quality   string `json:"quality"` // "keep", "bin8" or "drop"
	Lossless  bool   `json:"lossless"`
	Verified  bool   `json:"verified"`
	// Sides are the names of the side archives that list its inputs, as recorded in it.
	Sides     []string `json:"side_archives,omitempty"`
	BlockSize uint64   `json:"block_size"`

	Inputs       []InputInformation    `json:"inputs"`
	Records      uint64                `json:"records"`
	Bases        uint64                `json:"bases"`
	TextBytes    uint64                `json:"text_bytes"`
	ArchiveBytes uint64                `json:"archive_bytes"`
	Columns      restoring.ColumnBytes `json:"columns"`
	Ratio        float64               `json:"ratio"`         // text bytes to archive bytes
	BitsPerBase  float64               `json:"bits_per_base"` // of the sequences
	Blocks       int                   `json:"blocks,omitempty"`
	Slices       int                   `json:"slices,omitempty"`
	// OrderBytes is what the original order of the records would have cost at least
	// (log2 of the number of orders), where it was given up.
	OrderBytes uint64 `json:"order_bytes,omitempty"`
	// Problems are damages that verify would report and that need no decoding to be found.
	Problems []string `json:"problems,omitempty"`
}

// InputInformation is about one input.
type InputInformation struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`                       // "FASTQ" or "FASTA"
	Read  int    `json:"read"`                       // number in its fragment: 1 of first mates and of reads without mates
	Mates string `json:"mates,omitempty"`            // the input with its mates
	Lead  string `json:"further_mates_of,omitempty"` // the input with the first mates, if this one has further mates
	// Interleaved says that first and second mates alternate.
	Interleaved bool    `json:"interleaved,omitempty"`
	Bytes       uint64  `json:"bytes"`
	Records     uint64  `json:"records"`
	Bases       uint64  `json:"bases"`
	MinLen      uint32  `json:"min_length"`
	MeanLen     float64 `json:"mean_length"`
	MaxLen      uint32  `json:"max_length"`
	OutBytes    uint64  `json:"unpacked_bytes,omitempty"`
	// Restored is the name of the file that unpack writes, and these are the checksums of its text.
	Restored string `json:"restored_name"`
	Exact    bool   `json:"exact_file"` // the file comes back as it was stored, and not only its text
	SHA256   string `json:"sha256,omitempty"`
	MD5      string `json:"md5,omitempty"`
	Sample   string `json:"sample,omitempty"` // that it belongs to, in an archive of several
	// File is what is recorded of the file that the input was read from; nil if nothing is.
	File *FileInformation `json:"file,omitempty"`
}

// FileInformation is about the file of an input, as it was stored.
type FileInformation struct {
	Name       string     `json:"name,omitempty"` // "" of standard input and pipes
	Bytes      uint64     `json:"bytes"`
	Time       *time.Time `json:"time,omitempty"` // of the last modification
	Compressed bool       `json:"compressed"`
	SHA256     string     `json:"sha256,omitempty"`
	MD5        string     `json:"md5,omitempty"`
}

// NewFileInformation describes the file of an input. sums are nil if they are not known.
func NewFileInformation(s *record.Source, sums *digest.Sums) *FileInformation {
	f := &FileInformation{Name: s.Name, Bytes: s.Size, Compressed: !s.Plain}
	if !s.Time.IsZero() {
		f.Time = &s.Time
	}
	if sums != nil {
		f.SHA256, f.MD5 = fmt.Sprintf("%x", sums.SHA256), fmt.Sprintf("%x", sums.MD5)
	}
	return f
}

// Info describes an archive, packed or binned, without decoding it.
func Info(e commit.Entry) (*Information, error) {
	src, err := source.OpenEntry(e, 1, 0)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	return infoOfSource(e, src)
}

// infoOfSource is Info of an archive that is open.
func infoOfSource(e commit.Entry, src source.Source) (n *Information, err error) {
	switch src := src.(type) {
	case *source.Packed:
		n, err = infoPacked(e, src.Archive)
	case *source.Binned:
		n, err = infoBinned(src)
	}
	if err != nil {
		return nil, err
	}
	for _, p := range src.Problems() {
		n.Problems = append(n.Problems, p.Error())
	}
	return n, nil
}

func infoPacked(e commit.Entry, r *archive.Reader) (*Information, error) {
	man := r.Manifest()
	sum, err := restoring.SummaryOf(man, r.Paths(), false)
	if err != nil {
		return nil, err
	}
	n := describe(man, sum)
	n.Name, n.Stage, n.FormatVersion = r.Name(), "packed", archive.Version
	n.ID, n.Slices = fmt.Sprintf("%x", man.ID), len(man.Slices)
	n.BinsKept = e.Has[commit.Bins]
	if man.Options.OrderAny {
		bits := 0.0
		for i := range man.Slices {
			if man.Inputs[man.Slices[i].First.Input].Further {
				continue // their order is that of the first mates
			}
			// Inside a slice all orders are one; a whole input in the order of the layout is more.
			bits += log2Factorial(uint64(man.Slices[i].Records))
		}
		whole := 0.0
		for i := range man.Inputs {
			in := &man.Inputs[i]
			if !slicing.WholeOrder(man.Options, in.Kind) || in.Mate >= 0 && !slicing.WholeOrder(man.Options, man.Inputs[in.Mate].Kind) {
				whole = 0
				break
			}
			if in.Mate < 0 && !in.Further || in.First {
				whole += log2Factorial(in.Records)
			}
		}
		n.OrderBytes = uint64(max(bits, whole) / 8)
	}
	return n, nil
}

// log2Factorial returns log2(n!).
func log2Factorial(n uint64) float64 {
	l, _ := math.Lgamma(float64(n) + 1)
	return l / math.Ln2
}

func infoBinned(b *source.Binned) (*Information, error) {
	r, meta, man := b.Bins, b.Bins.Meta(), b.Man
	for i := range man.Inputs {
		if err := lengthsOf(r, i, &man.Inputs[i]); err != nil {
			return nil, err
		}
	}
	sum, err := restoring.SummaryOf(man, b.Paths(), false)
	if err != nil {
		return nil, err
	}
	sum.Columns = restoring.ColumnBytes{}
	for i := range meta.Blocks {
		k := &meta.Blocks[i]
		sum.Columns.ByColumn[archive.Seqs] += k.StoredDNA
		sum.Columns.ByColumn[archive.Names] += k.StoredNames
		sum.Columns.ByColumn[archive.Quals] += k.StoredQuals
		// Of the meta file, the order of the reads in the bins, their places and the directory count as index.
		rest := k.StoredMeta - min(k.StoredMeta, k.OrderBytes())
		lengths := uint64(0)
		if k.Varied {
			lengths = min(rest, 4*uint64(k.Records))
		}
		sum.Columns.ByColumn[archive.Lengths] += lengths
		if k.HasForms { // with exceptions, if there are any
			sum.Columns.ByColumn[archive.Forms] += rest - lengths
		} else {
			sum.Columns.ByColumn[archive.Seqs] += rest - lengths
		}
	}
	sum.Columns.Files = r.FileBytes()
	sum.Columns.Index = sum.ArchiveBytes - sum.Columns.Total()
	n := describe(man, sum)
	n.Name, n.Stage, n.FormatVersion = r.Name(), "binned", bins.Version
	n.ID, n.Blocks = n.BinsID, len(meta.Blocks)
	return n, nil
}

// lengthsOf finds the shortest and longest read of an input of the bins.
func lengthsOf(r *bins.Reader, input int, in *archive.Input) error {
	first := true
	note := func(l uint32) {
		if first || l < in.MinLen {
			in.MinLen = l
		}
		in.MaxLen = max(in.MaxLen, l)
		first = false
	}
	var b bins.Block
	for _, k := range r.Meta().BlocksOf(input) {
		info := &r.Meta().Blocks[k]
		if !info.Varied {
			if info.Records > 0 {
				note(info.FixedLen)
			}
			continue
		}
		if err := r.ReadColumns(k, bins.WantLengths, &b); err != nil {
			return err
		}
		for _, l := range b.Lengths.Each {
			note(l)
		}
	}
	return nil
}

// describe fills in what both stages have.
func describe(man *archive.Manifest, sum *restoring.Summary) *Information {
	n := &Information{Tool: man.Tool, BinsID: fmt.Sprintf("%x", man.Source), ReadsOnly: man.Options.ReadsOnly,
		Order: "original", Names: "keep", Quality: [...]string{"keep", "bin8", "drop"}[man.Options.Quality],
		Lossless: true, Verified: man.Verified, Sides: man.Sides, BlockSize: man.Options.BlockSize,
		Records: sum.Records, Bases: sum.Bases, TextBytes: sum.TextBytes, ArchiveBytes: sum.ArchiveBytes, Columns: sum.Columns}
	if man.Options.OrderAny {
		n.Order = "any"
	}
	if man.Options.DropNames || man.Options.ReadsOnly {
		n.Names = "drop"
	}
	if man.Options.ReadsOnly {
		n.Quality = "drop"
	}
	if sum.ArchiveBytes > 0 {
		n.Ratio = float64(sum.TextBytes) / float64(sum.ArchiveBytes)
	}
	if sum.Bases > 0 {
		n.BitsPerBase = 8 * float64(sum.Columns.ByColumn[archive.Seqs]) / float64(sum.Bases)
	}
	further := make(map[int]int) // inputs with further mates, by their lead
	exactFile := func(i int) bool { s := man.Inputs[i].Source; return s != nil && len(s.Gzip) > 0 }
	restored, err := record.RestoredNames(man.BinsInputs(), man.Options, record.Restored{File: exactFile})
	for i := range man.Inputs {
		in := &man.Inputs[i]
		d := InputInformation{Name: in.Name, Interleaved: in.Interleaved, Read: 1, Kind: in.Kind.Format().Name, Bytes: in.Bytes,
			Records: in.Records, Bases: in.Bases, MinLen: in.MinLen, MaxLen: in.MaxLen, OutBytes: in.OutBytes}
		if in.Records > 0 {
			d.MeanLen = float64(in.Bases) / float64(in.Records)
		}
		if in.Mate >= 0 {
			d.Mates = man.Inputs[in.Mate].Name
			if !in.First {
				d.Read = 2
			}
		}
		if in.Further {
			d.Lead = man.Inputs[in.Lead].Name
			further[in.Lead]++
			d.Read = 2 + further[in.Lead]
		}
		if err == nil { // else unpack refuses the archive
			d.Restored = restored[i]
		}
		d.Exact = exactFile(i)
		exact := man.Options.Exact(in.Kind)
		if man.Verified {
			d.SHA256 = fmt.Sprintf("%x", in.SHA256)
		}
		if man.HasMD5(in) {
			d.MD5 = fmt.Sprintf("%x", in.MD5)
		}
		if s := in.Source; s != nil {
			d.Sample = s.Sample
			d.File = NewFileInformation(s, s.Sums)
			switch f := d.File; {
			case !exact || !s.Plain:
			case s.Sums == nil:
				f.SHA256, f.MD5 = d.SHA256, d.MD5
			case !man.Verified:
				d.SHA256, d.MD5 = f.SHA256, f.MD5
			}
		}
		n.Lossless = n.Lossless && exact
		n.Inputs = append(n.Inputs, d)
	}
	return n
}

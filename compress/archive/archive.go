// Package archive is the container of a packed archive: NAME.cdna, which holds the coded
// sections end to end, and NAME.cmeta, the manifest that says what they are and has
// the checksums of both. The manifest is also at the end of NAME.cdna: either copy is enough. If both are lost, the
// headers of the sections say what they are. A section of parity in NAME.cdna mends some damage, and NAME.cpar more: see package parity.
// docs/FORMAT.md, section "The packed archive", specifies them; package commit puts them in place.
package archive

import (
	"fmt"
	"io"

	"orcomgo/bins/record"

	"github.com/zeebo/xxh3"

	"orcomgo/bins/commit"
	"orcomgo/bins/parse"
)

// Version is that of the format.
const Version = 1

// File name suffixes of the bulk file and of the manifest.
const (
	BulkSuffix = commit.PackedDataExt
	MetaSuffix = commit.PackedMetaExt
)

const (
	metaMagic = commit.PackedMetaMagic
	bulkMagic = commit.PackedDataMagic
	tailMagic = commit.PackedDataEnd // at the very end of the bulk file
)

// bulkHeader is the length of the bulk file's header: magic, version, archive ID.
const bulkHeader = 8 + 1 + 16

// tailFooter is the length of the footer that follows the manifest's copy in the bulk file:
// the copy's length, magic.
const tailFooter = 8 + 8

// MaxSliceRecords is the most records that a slice may hold.
const MaxSliceRecords = 1 << 26

// corrupt returns an ErrCorrupt that names file and says what was found.
func corrupt(file, format string, args ...any) error {
	return fmt.Errorf("%s: %s: %w", file, fmt.Sprintf(format, args...), parse.ErrCorrupt)
}

// Section is a run of bytes of the bulk file. The zero value is an absent, empty one.
type Section struct {
	Off  uint64 // from the start of the bulk file
	Len  uint64 // bytes
	Hash uint64 // XXH3-64 of the bytes; 0 when Len is 0
}

// Manifest is the content of a .cmeta file.
type Manifest struct {
	ID       [16]byte // XXH3-128 of the bulk file after Head, up to Parity
	Source   [16]byte // bins.Meta.ID of the bins that were packed
	Tool     string   // program and version that wrote the archive
	Sides    []string // the names of the side archives that list this archive's inputs, in the same directory
	Options  record.Options
	Verified bool   // Input.SHA256, Member.TextLen and TextHash are there
	BulkLen  uint64 // bytes of the bulk file up to the end of the last section
	Inputs   []Input
	// Slices are in the order of the bulk file. Those of one input hold its records one
	// after another; slices of different inputs may alternate.
	Slices []Slice
	// Shared are the sections that every slice's sequences need.
	Shared []Section
	// Head is the section that begins the bulk file, the manifest as it was known then: what its reader needs beside the headers of
	// sections.
	Head Section
	// Parity is the section at the end of the others, their parity: package parity. No bytes: there is none.
	Parity Section

	// Repeats says that the second shared section is that of repeats in the pseudogenome.
	Repeats bool

	// NameRanges says that slices have Words.
	NameRanges bool

	// OneFile says that the bulk file is all of the archive: there is no .cmeta file and no NAME.cpar, and more parity within.
	OneFile bool

	size uint64 // of the manifest, in bytes
}

// Input is one input file of the archive.
type Input struct {
	record.Input
	Bases          uint64
	MinLen, MaxLen uint32 // bases of the shortest and longest read; 0 without records
	// Blocks are the blocks of original text that stage 1 hashed, in order; nil unless
	// the input comes back byte for byte.
	Blocks []TextBlock
	// QualsByBases says that qualities are coded given the letters of the reads, and these without the qualities. The input has no mates.
	QualsByBases bool
	// TwoBit says that the sequences are in two bits a base, and not given what is shared. The input is FASTA without mates, in its order.
	TwoBit bool
	// OutBytes and SHA256 are those of the text that unpack delivers; set when Verified. MD5 is as well, if Source has TextMD5.
	OutBytes uint64
	SHA256   [32]byte
	MD5      [16]byte
	// File is the file itself, of an input of bins that keep it.
	File *io.SectionReader
}

// BinsInputs returns what stage 1 said of the inputs.
func (m *Manifest) BinsInputs() []record.Input {
	inputs := make([]record.Input, len(m.Inputs))
	for i := range inputs {
		inputs[i] = m.Inputs[i].Input
	}
	return inputs
}

// HasMD5 reports whether MD5 of an input of the archive is set.
func (m *Manifest) HasMD5(in *Input) bool { return m.Verified && in.Source != nil && in.Source.TextMD5 }

// TextBlock is a run of an input's text.
type TextBlock struct {
	Len  uint64
	Hash [16]byte // as digest.TextHasher computes it
}

// Slice is a range of records of an input, or of a pair's two inputs. It can be decoded without most other slices: names may need those
// of slices before it, and qualities the first ones of the input.
type Slice struct {
	From    uint64 // records of the input before it
	Records int    // 1..MaxSliceRecords
	First   Member
	Mate    *Member // second mates, or nil; of an interleaved input, too: see Halves
	Seqs    Section // sequences of First and Mate
	Words   Words   // of the names, if NameRanges is set
}

// Words bound the numbers of the first words of all names of a slice, which differ in these alone: see docs/FORMAT.md, "Words of names".
// Empty ones bound nothing.
type Words struct {
	Least, Greatest string // at most MaxWord bytes each
}

// MaxWord is the most bytes of Words.Least and Words.Greatest.
const MaxWord = 255

// Member is one input's part of a slice, or the first or second mates of an interleaved input there. Columns that were left out, or that
// say nothing, are empty sections.
type Member struct {
	Input    int
	Bases    uint64
	NamesLen uint64 // bytes of the decoded names, each with its '\n'
	// NamesContinue says that the names begin with the models after those of the slice before, which are needed as well then.
	NamesContinue bool
	TextLen       uint64 // bytes of the text that unpack delivers; set when Verified. Of Halves both have one text, which is the first one's
	TextHash      uint64 // XXH3-64 of that text; set when Verified

	Sections [MemberColumns]Section // by Column
}

// Column is one kind of data of records. The numbers are the order of sections in a slice.
type Column int

// The columns. Each member of a slice has a section of every column before MemberColumns,
// and all members share those from there on.
const (
	Lengths Column = iota // of reads, in bases
	Forms                 // of the records' text
	Names
	Quals
	MemberColumns
	Seqs = MemberColumns // sequences
	// Columns is the number of columns.
	Columns = Seqs + 1
)

// String returns the name by which messages and reports call the column.
func (c Column) String() string {
	return [Columns]string{"lengths", "forms", "names", "qualities", "sequences"}[c]
}

// Members returns the one or two members of s, first mates first.
func (s *Slice) Members() []*Member {
	if s.Mate != nil {
		return []*Member{&s.First, s.Mate}
	}
	return []*Member{&s.First}
}

// Halves reports whether the two members are the mates of an interleaved input, which come back in turn.
func (s *Slice) Halves() bool { return s.Mate != nil && s.Mate.Input == s.First.Input }

// MemberRecords returns how many records each member has.
func (s *Slice) MemberRecords() int {
	if s.Halves() {
		return s.Records / 2
	}
	return s.Records
}

// Fragment returns the records from..to-1 of each input of the slice that are of the same fragment as record i.
func (s *Slice) Fragment(i int) (from, to int) {
	if s.Halves() {
		return i &^ 1, i&^1 + 2
	}
	return i, i + 1
}

// Texts returns the members that have a text of their own: one for each input.
func (s *Slice) Texts() []*Member {
	if s.Halves() {
		return []*Member{&s.First}
	}
	return s.Members()
}

// Leads returns, for each slice of further mates, the number of the slice that has the first mates of its records; -1 for others, and
// where there is none.
func (m *Manifest) Leads() []int {
	type place struct {
		input   int
		from    uint64
		records int
	}
	leads := make([]int, len(m.Slices))
	var at map[place]int
	for i := range m.Slices {
		s := &m.Slices[i]
		leads[i] = -1
		in := &m.Inputs[s.First.Input]
		if !in.Further {
			continue
		}
		if at == nil {
			at = make(map[place]int)
			for k := range m.Slices {
				at[place{m.Slices[k].First.Input, m.Slices[k].From, m.Slices[k].Records}] = k
			}
		}
		if k, ok := at[place{in.Lead, s.From, s.Records}]; ok {
			leads[i] = k
		}
	}
	return leads
}

// Section returns the section of a column of member m; members share those of the columns
// after MemberColumns.
func (s *Slice) Section(c Column, m int) *Section {
	if c == Seqs {
		return &s.Seqs
	}
	return &s.Members()[m].Sections[c]
}

// EachSection calls f for every section of the slice in the order in which they lie in the
// bulk file; m is the member, 0 for the columns that members share.
func (s *Slice) EachSection(f func(c Column, m int, sec *Section)) {
	for m, member := range s.Members() {
		for c := range MemberColumns {
			f(c, m, &member.Sections[c])
		}
	}
	f(Seqs, 0, &s.Seqs)
}

// SharedLen returns how many bytes the shared sections have.
func (m *Manifest) SharedLen() (sum uint64) {
	for _, s := range m.Shared {
		sum += s.Len
	}
	return sum
}

// Sizes adds up the sections by column, in bytes of the bulk file; Shared ones count as
// sequences.
func (m *Manifest) Sizes() (sizes [Columns]uint64) {
	sizes[Seqs] = m.SharedLen()
	for i := range m.Slices {
		m.Slices[i].EachSection(func(c Column, _ int, s *Section) { sizes[c] += s.Len })
	}
	return sizes
}

// FileLen returns how many bytes the bulk file has if it is whole.
func (m *Manifest) FileLen() uint64 {
	return m.BulkLen + m.size + tailFooter
}

// Hash64 is the checksum of a section: XXH3-64, and 0 for no bytes.
func Hash64(b []byte) uint64 {
	if len(b) == 0 {
		return 0
	}
	return xxh3.Hash(b)
}

package report

import (
	"maps"
	"math"
	"slices"

	"orcomgo/compress"
)

// Figures are all figures of an archive, for a page or as JSON for scripts.
type Figures struct {
	Archive      *compress.Information `json:"archive"`
	Verification Verification          `json:"verification"`
	Reads        []ReadFigures         `json:"reads"` // by number of the read in its fragment
	// Pairs are duplicates among pairs, of which both mates are compared; nil without pairs.
	Pairs        *Duplication         `json:"pairs,omitempty"`
	Pseudogenome *PseudogenomeFigures `json:"pseudogenome,omitempty"` // nil if it is not known
	Columns      []ColumnCost         `json:"columns"`
	Gzip         GzipFigures          `json:"gzip"`
	Unknown      []string             `json:"unknown"` // what can't be said of this archive, and why, a sentence each
}

// Verification says whether everything in the archive is as it was when it was written.
type Verification struct {
	OK    bool                  `json:"ok"`
	Files []compress.FileStatus `json:"files"`
}

// ReadFigures are the figures of all reads with one number in their fragments.
type ReadFigures struct {
	Number    int        `json:"number"` // 1 for first mates and reads without mates
	Inputs    []string   `json:"inputs"`
	Records   uint64     `json:"records"`
	Bases     uint64     `json:"bases"`
	Letters   Letters    `json:"letters"`
	GC        float64    `json:"gc_percent"`          // of A, C, G and T
	N         float64    `json:"n_percent"`           // of all letters
	Qualities *Qualities `json:"qualities,omitempty"` // nil if there are none
	Cycles    []Cycle    `json:"cycles"`
	Lengths   []Count    `json:"lengths"` // reads by length
	// GCByRead are reads by percent of G and C among their A, C, G and T, 0 to 100. A read whose share is between two percents, or whose
	// few bases give a range of percents, is divided among them.
	GCByRead []float64 `json:"gc_by_read"`
	// Duplication is nil if there are no sequences.
	Duplication *Duplication `json:"duplication,omitempty"`
	Names       []NameForm   `json:"names,omitempty"`
	NamesVary   bool         `json:"names_vary,omitempty"` // they have more than 16 forms, which are not described
}

// Letters counts letters of reads. U counts as T, lower case as upper case.
type Letters struct {
	A     uint64 `json:"a"`
	C     uint64 `json:"c"`
	G     uint64 `json:"g"`
	T     uint64 `json:"t"`
	N     uint64 `json:"n"`
	Other uint64 `json:"other"`
}

func (l *Letters) add(o *Letters) {
	l.A, l.C, l.G, l.T, l.N, l.Other = l.A+o.A, l.C+o.C, l.G+o.G, l.T+o.T, l.N+o.N, l.Other+o.Other
}

func (l *Letters) total() uint64 { return l.acgt() + l.N + l.Other }
func (l *Letters) acgt() uint64  { return l.A + l.C + l.G + l.T }
func (l *Letters) gc() uint64    { return l.G + l.C }

// lettersOf returns counts of letters by their names.
func lettersOf(c []uint64) Letters {
	return Letters{c[letterA], c[letterC], c[letterG], c[letterT], c[letterN], c[letterOther]}
}

// Qualities are figures of the qualities of all bases.
type Qualities struct {
	Offset int     `json:"offset"` // of the bytes in the text: 33, or 64 as older software of Illumina wrote them
	Mean   float64 `json:"mean"`
	Q20    float64 `json:"q20_percent"` // of the bases that have a quality of 20 or more
	Q30    float64 `json:"q30_percent"`
	Levels []Count `json:"levels"`  // bases by quality
	ByRead []Count `json:"by_read"` // reads by their mean quality, rounded
	// Without are the reads that have no qualities.
	Without uint64 `json:"reads_without,omitempty"`
}

// Count is how many there are with a number of From to To.
type Count struct {
	From  int    `json:"from"`
	To    int    `json:"to"`
	Count uint64 `json:"count"`
}

// Cycle are the figures of one cycle, or of a group of them in long reads.
type Cycle struct {
	From    int           `json:"from"` // counted from 1
	To      int           `json:"to"`
	Letters Letters       `json:"letters"`
	Quality *CycleQuality `json:"quality,omitempty"`
}

// CycleQuality are figures of the qualities at a cycle. A percentile is the least quality that so many percent do not exceed.
type CycleQuality struct {
	Mean   float64 `json:"mean"`
	P10    int     `json:"p10"`
	P25    int     `json:"p25"`
	Median int     `json:"median"`
	P75    int     `json:"p75"`
	P90    int     `json:"p90"`
}

// PseudogenomeFigures say how the reads are laid out on the sequence that they were joined to.
type PseudogenomeFigures struct {
	compress.Pseudogenome
	MeanDepth float64 `json:"mean_depth"` // over all windows
	// AtLeast says which share of the pseudogenome has a depth of at least so much.
	AtLeast []DepthShare `json:"at_least"`
}

// DepthShare is the share of the pseudogenome, in percent, over each base of which Depth reads or more lie, on average over a window.
type DepthShare struct {
	Depth   float64 `json:"depth"`
	Percent float64 `json:"percent"`
}

// ColumnCost says how much of the archive a column takes.
type ColumnCost struct {
	Name         string  `json:"name"`
	Bytes        uint64  `json:"bytes"`
	Percent      float64 `json:"percent"` // of the archive
	BitsPerBase  float64 `json:"bits_per_base"`
	BytesPerRead float64 `json:"bytes_per_read"`
}

// GzipFigures are what the archive is compared with.
type GzipFigures struct {
	// SampleBytes of text were compressed by gzip at level 6 to SampleGzip bytes. Ratio6 is their quotient, 0 without a sample.
	SampleBytes uint64  `json:"sample_bytes"`
	SampleGzip  uint64  `json:"sample_gzip_bytes"`
	Ratio6      float64 `json:"gzip6_ratio"`
	// StoredBytes is what the files took that were archived, StoredFiles of them compressed; 0 if that is not recorded of all of them.
	StoredBytes      uint64 `json:"stored_bytes"`
	StoredCompressed int    `json:"stored_compressed_files"`
}

// phredOffset returns what the bytes of qualities are greater than the qualities. It is 64 if no byte is below 64 and some are above 75
// ('K', the highest that sequencers with an offset of 33 write), yet none above 105.
func phredOffset(c *qualityCounts) int {
	least, greatest := -1, 0
	for q, n := range c {
		if n > 0 {
			if least < 0 {
				least = q
			}
			greatest = q
		}
	}
	if least >= 64 && greatest > 75 && greatest <= 105 {
		return 64
	}
	return 33
}

// figures returns the figures of reads with this number.
func (c *readCounts) figures(number int, inputs []string) ReadFigures {
	f := ReadFigures{Number: number, Inputs: inputs, Records: c.records, Duplication: c.sample.result(), GCByRead: make([]float64, len(c.gc)),
		Names: c.names.result(), NamesVary: c.names.more}
	for i, n := range c.gc {
		f.GCByRead[i] = float64(n) / gcUnit
	}
	var all [letters]uint64
	sumRows(all[:], c.letters)
	f.Letters = lettersOf(all[:])
	f.Bases = f.Letters.total()
	f.GC, f.N = percent(f.Letters.gc(), f.Letters.acgt()), percent(f.Letters.N, f.Bases)
	var quals qualityCounts
	sumRows(quals[:], c.quals)
	offset := phredOffset(&quals)
	if c.withQuals > 0 {
		f.Qualities = c.qualities(&quals, offset)
	}
	withBases, withQuals := len(c.letters)/letters, len(c.quals)/qualities
	for group := range max(withBases, withQuals) {
		from, to := groupRange(group)
		cycle := Cycle{From: from + 1, To: to + 1}
		if group < withBases {
			cycle.Letters = lettersOf(row(c.letters, group, letters))
		}
		if group < withQuals {
			cycle.Quality = cycleQuality(row(c.quals, group, qualities), offset)
		}
		f.Cycles = append(f.Cycles, cycle)
	}
	f.Lengths = []Count{}
	for group, n := range c.lengths {
		if n > 0 {
			from, to := groupRange(group)
			f.Lengths = append(f.Lengths, Count{from, to, n})
		}
	}
	return f
}

func (c *readCounts) qualities(all *qualityCounts, offset int) *Qualities {
	q := &Qualities{Offset: offset, Levels: all.levels(offset), ByRead: c.means.levels(offset), Without: c.records - c.withQuals}
	var n, sum, q20, q30 uint64
	for b, k := range all {
		level := max(b-offset, 0)
		n += k
		sum += k * uint64(level)
		if level >= 20 {
			q20 += k
		}
		if level >= 30 {
			q30 += k
		}
	}
	if n > 0 {
		q.Mean = float64(sum) / float64(n)
	}
	q.Q20, q.Q30 = percent(q20, n), percent(q30, n)
	return q
}

// levels lists the qualities that occur.
func (c *qualityCounts) levels(offset int) []Count {
	list := []Count{}
	for b, n := range c {
		if n > 0 {
			list = append(list, Count{b - offset, b - offset, n})
		}
	}
	return list
}

// cycleQuality returns figures of qualityCounts, nil if there are no qualities.
func cycleQuality(c []uint64, offset int) *CycleQuality {
	var n, sum uint64
	for b, k := range c {
		n += k
		sum += k * uint64(max(b-offset, 0))
	}
	if n == 0 {
		return nil
	}
	percentile := func(p uint64) int {
		want := (n*p + 99) / 100
		for b, k := range c {
			if want <= k {
				return max(b-offset, 0)
			}
			want -= k
		}
		return 0 // not reached: the counts add up to n
	}
	return &CycleQuality{float64(sum) / float64(n), percentile(10), percentile(25), percentile(50), percentile(75), percentile(90)}
}

// pseudogenomeFigures sums up the depths of windows.
func pseudogenomeFigures(p *compress.Pseudogenome) *PseudogenomeFigures {
	if p == nil {
		return nil
	}
	f := &PseudogenomeFigures{Pseudogenome: *p}
	sum := 0.0
	sizes := make(map[int]uint64) // bases by step
	for k, d := range p.Depths {
		bases := min(uint64(p.Window), p.Bases-uint64(k)*uint64(p.Window))
		sum += d * float64(bases)
		sizes[depthStep(d)] += bases
	}
	if p.Bases == 0 {
		return f
	}
	f.MeanDepth = sum / float64(p.Bases)
	top := slices.Max(slices.Collect(maps.Keys(sizes)))
	f.AtLeast = []DepthShare{{0, 100}}
	left := p.Bases
	for s := range top {
		left -= sizes[s]
		f.AtLeast = append(f.AtLeast, DepthShare{math.Exp2(float64(s) / 8), percent(left, p.Bases)})
	}
	return f
}

// Depths are counted in steps: step 0 is below 1, and each octave from 1 on has 8 steps.
func depthStep(d float64) int {
	if d < 1 {
		return 0
	}
	return 1 + int(8*math.Log2(d)+1e-9)
}

// columnCosts lists what the archive's bytes are.
func columnCosts(n *compress.Information) (list []ColumnCost) {
	n.Columns.Each(func(name string, bytes uint64) {
		c := ColumnCost{Name: name, Bytes: bytes, Percent: percent(bytes, n.ArchiveBytes)}
		if n.Bases > 0 {
			c.BitsPerBase = 8 * float64(bytes) / float64(n.Bases)
		}
		if n.Records > 0 {
			c.BytesPerRead = float64(bytes) / float64(n.Records)
		}
		list = append(list, c)
	})
	return list
}

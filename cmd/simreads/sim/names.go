package sim

import (
	"fmt"
	"strconv"
)

// NameStyle is how reads are named.
type NameStyle int

// The styles of read names.
const (
	Casava   NameStyle = iota // SIM01:7:HSIM5DSX7:1:1101:1029:1000 1:N:0:ACAGTGAT
	SRA                       // SRR0000001.1 1 length=100, again after the +
	ENA                       // SRR0000001.1 1/1
	PacBio                    // m64011_200101_000000/137/ccs
	Nanoread                  // a UUID with the run, read number and channel
)

// The flow cell in names: reads are in rows of ascending y, with x ascending in a row.
const (
	readsPerRow   = 160
	rowsPerTile   = 2400
	tilesPerSwath = 78
	swaths        = 6
	surfaces      = 2
	lanes         = 8
)

// namer writes the names of reads. Those of mates differ in the mate's number only.
type namer struct {
	style  NameStyle
	prefix []byte // "@SIM01:" or "@SRR0000001."
	after  []byte // ":HSIM5DSX7:"
	run    uint64
}

func newNamer(style NameStyle, seed uint64, fasta bool) *namer {
	n := &namer{style: style, run: 1 + seed%997}
	mark := "@"
	if fasta {
		mark = ">"
	}
	r := stream(seed, streamDuplicate, 1<<63)
	switch style {
	case Casava:
		n.prefix = []byte(fmt.Sprintf("%sSIM%02d:", mark, 1+seed%89))
		cell := []byte("HSIM5DSX")
		for i := 1; i < 6; i++ {
			cell[i] = "ABCDEFGHJKLMNPQRSTVWXYZ23457"[r.below(28)]
		}
		n.after = []byte(fmt.Sprintf(":%s%d:", cell, 2+seed%6))
	case SRA, ENA:
		n.prefix = []byte(fmt.Sprintf("%sSRR%07d.", mark, 1+seed%9999999))
	case PacBio:
		n.prefix = []byte(fmt.Sprintf("%sm64%03d_200%d%02d_%06d/", mark, seed%1000, 1+seed%9, 1+seed%28, r.below(235959)))
	case Nanoread:
		n.prefix = []byte(mark)
		n.after = []byte(fmt.Sprintf(" runid=%016x%016x%08x sampleid=sim", r.next(), r.next(), r.next()>>32))
	}
	return n
}

// append appends the name line of read i, without its line end. r is used for nothing else.
func (n *namer) append(b []byte, i uint64, mate, length int, r *random) []byte {
	b = append(b, n.prefix...)
	switch n.style {
	case Casava:
		column, row := i%readsPerRow, i/readsPerRow
		tile := row / rowsPerTile
		swath := tile / tilesPerSwath
		lane := swath / (swaths * surfaces)
		b = strconv.AppendUint(b, n.run+lane/lanes, 10)
		b = append(b, n.after...)
		b = strconv.AppendUint(b, 1+lane%lanes, 10)
		b = append(b, ':')
		b = strconv.AppendUint(b, 1000*(1+swath/swaths%surfaces)+100*(1+swath%swaths)+1+tile%tilesPerSwath, 10)
		b = append(b, ':')
		b = strconv.AppendUint(b, 1000+column*195+r.below(195), 10)
		b = append(b, ':')
		// the wells of a patterned flow cell are 15.65 units apart
		b = strconv.AppendUint(b, 1000+row%rowsPerTile*1565/100, 10)
		b = append(b, ' ', byte('0'+mate))
		b = append(b, ":N:0:ACAGTGAT"...)
	case SRA:
		b = strconv.AppendUint(b, i+1, 10)
		b = append(b, ' ')
		b = strconv.AppendUint(b, i+1, 10)
		b = append(b, " length="...)
		b = strconv.AppendInt(b, int64(length), 10)
	case ENA:
		b = strconv.AppendUint(b, i+1, 10)
		b = append(b, ' ')
		b = strconv.AppendUint(b, i+1, 10)
		b = append(b, '/', byte('0'+mate))
	case PacBio:
		b = strconv.AppendUint(b, i*33+r.below(33), 10)
		b = append(b, "/ccs"...)
	case Nanoread:
		hi, lo := r.next(), r.next()
		b = fmt.Appendf(b, "%08x-%04x-4%03x-8%03x-%012x", hi>>32, hi>>16&0xffff, hi&0xfff, lo>>52, lo&(1<<48-1))
		b = append(b, n.after...)
		b = append(b, " read="...)
		b = strconv.AppendUint(b, i*17+r.below(17), 10)
		b = append(b, " ch="...)
		b = strconv.AppendUint(b, 1+r.below(512), 10)
	}
	return b
}

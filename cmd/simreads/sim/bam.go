package sim

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"

	"orcomgo/bins/bam"
)

// BAMHeader is what precedes the records of BAM, with one read group.
func BAMHeader() []byte {
	return BGZF(nil, bam.Header("@HD\tVN:1.6\tSO:unknown\n@RG\tID:simulated\tSM:sample\n"))
}

// BAM returns the Encoding that makes FASTQ of four lines, with LF, records of unaligned BAM, in BGZF. They have a read group, and
// what instruments write: names of casava a barcode, HiFi the kinetics of each base, nanopore the moves of the signal and modified bases.
func (c *Config) BAM() Encoding {
	return func(dst, text []byte) []byte {
		var records []byte
		for len(text) > 0 {
			var lines [4][]byte
			for i := range lines {
				lines[i], text, _ = bytes.Cut(text, []byte{'\n'})
			}
			records = c.appendBAM(records, lines[0][1:], lines[1], lines[3])
		}
		return BGZF(dst, records)
	}
}

// appendBAM appends a record. What is not in the FASTQ is drawn by its name.
func (c *Config) appendBAM(dst, name, seq, qual []byte) []byte {
	hash := fnv.New64a()
	hash.Write(name)
	r := stream(c.Seed, 0xba3, hash.Sum64())
	name, comment, _ := bytes.Cut(name, []byte{' '})
	le := binary.LittleEndian
	mate := 0
	if c.Paired {
		mate = 1
		if bytes.HasPrefix(comment, []byte("2:")) || bytes.HasSuffix(comment, []byte("/2")) {
			mate = 2
		}
	}
	fields := bam.AppendTag(bam.Fields(nil, mate, true), "RG", []byte("simulated"))
	if i := bytes.LastIndexByte(comment, ':'); c.Names == Casava && i >= 0 {
		fields = appendBarcode(fields, comment[i+1:], &r)
	}
	switch {
	case c.Quality == HiFi:
		fields = fmt.Appendf(fields, "zmi%snpi%s", le.AppendUint32(nil, uint32(r.below(1<<24))), le.AppendUint32(nil, uint32(5+r.below(20))))
		fields = append(fields, "rqf"...)
		fields = le.AppendUint32(fields, math.Float32bits(float32(1-0.01*r.unit()*r.unit())))
		if !c.Strands {
			fields = appendKinetics(fields, "ip", "pw", seq, &r)
			break
		}
		fields = appendKinetics(fields, "fi", "fp", seq, &r)
		fields = appendKinetics(fields, "ri", "rp", orient(nil, seq, true), &r)
	case c.Quality == Nanopore:
		fields = appendMoves(fields, len(seq), &r)
		fields = appendModified(fields, seq, &r)
	}
	dst, _ = bam.AppendRecord(dst, name, seq, qual, fields) // letters of FASTQ have codes
	return dst
}

// appendArray appends a tag that is an array of bytes.
func appendArray(dst []byte, tag string, element byte, n int) []byte {
	dst = append(append(dst, tag...), 'B', element)
	return binary.LittleEndian.AppendUint32(dst, uint32(n))
}

// appendBarcode appends a barcode and its qualities, of which nearly all are the best.
func appendBarcode(dst, barcode []byte, r *random) []byte {
	qualities := bytes.Repeat([]byte{'F'}, len(barcode))
	for i := range qualities {
		if r.below(50) == 0 {
			qualities[i] = ':'
		}
	}
	return bam.AppendTag(bam.AppendTag(dst, "BC", barcode), "QT", qualities)
}

// appendKinetics appends the times before each base and of it, in frames.
func appendKinetics(dst []byte, before, of string, seq []byte, r *random) []byte {
	dst = appendTimes(dst, before, 'i', seq, 20, 0.6, r)
	return appendTimes(dst, of, 'p', seq, 12, 0.5, r)
}

// appendTimes appends a time for each base. Their distribution is log-normal; its median depends on the three bases around, by
// a factor of 0.6 to 1.6. Measured times depend on ten bases (Schadt et al., "Modeling kinetic rate variation in third generation DNA
// sequencing data to detect putative modifications to DNA bases", Genome Research, 2013, figure 2).
func appendTimes(dst []byte, tag string, kind byte, seq []byte, median, sigma float64, r *random) []byte {
	dst = appendArray(dst, tag, 'C', len(seq))
	around := uint64(kind)
	for i := range seq {
		next := seq[min(i+1, len(seq)-1)]
		around = around<<8&0xffffff | uint64(next)
		own := float64(scramble(around<<8|uint64(kind))>>40) / (1 << 24)
		v := median * math.Exp(own-0.5+sigma*r.normal())
		dst = append(dst, byte(min(v, 255)))
	}
	return dst
}

// appendMoves appends at which strides of the signal a base begins.
func appendMoves(dst []byte, bases int, r *random) []byte {
	var moves []byte
	for range bases {
		moves = append(moves, 1)
		for stays := min(r.gap(0.6), 200); stays > 0; stays-- {
			moves = append(moves, 0)
		}
	}
	dst = append(appendArray(dst, "mv", 'c', len(moves)+1), 5)
	return append(dst, moves...)
}

// appendModified appends which Cs before Gs are methylated, and how likely.
func appendModified(dst, seq []byte, r *random) []byte {
	dst = append(dst, "MMZC+m?"...)
	var likely []byte
	between := 0
	for i, base := range seq {
		if base != 'C' {
			continue
		}
		if i+1 == len(seq) || seq[i+1] != 'G' {
			between++
			continue
		}
		dst = fmt.Appendf(dst, ",%d", between)
		v := 255 * r.unit() * r.unit() * r.unit()
		if r.below(10) < 7 {
			v = 255 - v
		}
		between, likely = 0, append(likely, byte(v))
	}
	dst = appendArray(append(dst, ";\x00"...), "ML", 'C', len(likely))
	return append(dst, likely...)
}

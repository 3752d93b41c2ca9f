package compress

import (
	"context"

	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/compress/seqs"
	"orcomgo/compress/twobit"
)

// With PackOptions.TwoBit, the sequences of assemblies are in two bits a base (package twobit), so that unpacking is as fast as copying.
// Else they are on the pseudogenome, as reads are, and the bases are predicted, which takes less room and more time.

// leastAssembled is how many bases the longest sequence of an assembly has at least. Reads of Illumina's instruments are shorter, also
// mates that were merged.
const leastAssembled = 701

// manyNames is how many names a slice of such an input has at least if they are to be decoded fast. Fewer take little time anyway.
const manyNames = 1024

// chooseTwoBit returns, by input, whether sequences are coded in two bits a base: of FASTA without mates and in its order, if a sequence is
// long.
func chooseTwoBit(ctx context.Context, r *bins.Reader, wanted bool) ([]bool, error) {
	meta := r.Meta()
	chosen := ofAll(meta, false)
	if !wanted || meta.Options.OrderAny {
		return chosen, nil
	}
	for i := range meta.Blocks {
		b := &meta.Blocks[i]
		in := &meta.Inputs[b.Input]
		if in.Kind != record.FASTA || in.Mate >= 0 || in.Further || chosen[b.Input] || b.Bases < leastAssembled {
			continue
		}
		var block bins.Block
		if err := r.ReadColumns(i, bins.WantLengths, &block); err != nil {
			return nil, err
		}
		_, longest := block.Lengths.Range(b.Records)
		chosen[b.Input] = longest >= leastAssembled
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return chosen, nil
}

// twoBitText returns how much text a slice in two bits a base has where others have so much. It is decoded in little time,
// and many slices can be decoded side by side.
func twoBitText(text uint64) uint64 { return max(text/4, 1) }

// decodeTwoBit, which may use several threads for long sequences, sets the letters of c, or, if only text is wanted, the sequences: the
// batch is to be released then.
func (c *columns) decodeTwoBit(memory *buffers, threads int, data []byte) error {
	s, err := twobit.Decode(memory.get(int(c.bases())/4+twoBitSlack), data, int(c.bases()))
	if err != nil {
		return err
	}
	if c.layout != nil {
		*c.layout = *seqs.UnplacedLayout(c.records)
	}
	s.Threads = threads
	n := int(c.lengths.Sum(0, c.first))
	if c.asText {
		c.twoBit = s
	} else {
		c.letters = s.AppendLetters(nil, 0, n)
		memory.put(s.Memory())
	}
	if c.coded != nil {
		c.coded(n)
	}
	return nil
}

// twoBitSlack is how many bytes more than a quarter of the bases twobit.Decode may take.
const twoBitSlack = 64

// release returns the memory of sequences in two bits a base, once b has been rendered.
func (p *packed) release(b *batch) {
	for _, c := range b.cols {
		if c != nil && c.twoBit != nil {
			p.memory.put(c.twoBit.Memory())
			c.twoBit = nil
		}
	}
}

// renderTwoBit is render of FASTA without letters.
func renderTwoBit(dst []byte, f record.Rendering, c *columns, ends []int) ([]byte, error) {
	start, at := len(dst), 0
	each := eachRecord{c: c, names: c.names, exceptions: c.forms.Exceptions}
	for i := range c.records {
		n := c.lengths.Of(i)
		if f == record.AsLines {
			dst = append(c.twoBit.AppendLetters(dst, at, at+n), '\n')
		} else {
			name, err := each.name(i)
			if err != nil {
				return dst, err
			}
			form := &record.Form{}
			if f == record.AsRecords {
				form = each.form(i)
			}
			dst, err = record.AppendFASTA(dst, name, n, form, func(dst []byte, from, to, width int, end string) []byte {
				return c.twoBit.AppendLines(dst, at+from, at+to, width, end)
			})
			if err != nil {
				return dst, err
			}
		}
		at += n
		if ends != nil {
			ends[i] = len(dst) - start
		}
	}
	return dst, nil
}

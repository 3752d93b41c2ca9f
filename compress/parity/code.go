package parity

import (
	"crypto/subtle"
	"encoding/binary"
	"io"
	"math"
	"math/bits"
	"sync"

	"github.com/klauspost/reedsolomon"
	"golang.org/x/sync/errgroup"

	"orcomgo/bins/parse"
	"orcomgo/internal/tasks"
)

// code is a Reed-Solomon code of size bytes in sectors, the last of which may be shorter. The sectors are divided into groups of as many
// sectors, the last sectors of which may lie beyond the end, as zeros. Each group has parity sectors of parity, and can be restored if
// as many of all its sectors are left as it has of data.
type code struct {
	size   int64
	sector int // bytes, a multiple of 64 up to maxSector
	groups int
	parity int // at least 1; 0: there is no parity
}

const (
	// runLength is how many sectors in a row belong to one group: a disk reads them at once, and a burst is spread over all groups.
	runLength = 16
	// maxShards is the most sectors of a group, with parity.
	maxShards = 1 << 16
	// maxByteShards is up to how many there are for a code of bytes; else it is one of 16-bit words.
	maxByteShards = 256
	// maxSpare bounds the sectors of parity of checksums, by what the code of words can have beside as many of data.
	maxSpare = 1 << 14
	// leastSector keeps packets of small archives from being mostly headers.
	leastSector = 256
)

// Prepare makes the tables of the code of words. They take 0.1 to 0.2 s of a thread, so that a caller who will write parity of more than
// a megabyte has that done beside other work. It does nothing where Write will use codes of bytes alone.
func Prepare() {
	if memoryLimit() < writeWordsLimit {
		return
	}
	_, _ = reedsolomon.New(1, 1, reedsolomon.WithLeopardGF16(true))
}

// newCode returns a code by which share of the sectors, but at least two, can be restored. Groups have at most so many sectors.
func newCode(size int64, share float64, shards int64) code {
	// A code of bytes takes much less memory than one of words, which is not worth that for small files.
	few := roundUp((size-1)/(maxByteShards*7/8)+1, 64)
	c := code{size: size, sector: int(min(max(few, leastSector), diskSector)), groups: 1}
	c.divide(max(2, int64(math.Round(float64(c.sectors())*share))), shards)
	return c
}

// divide makes as few groups as can have so many sectors of parity, or somewhat more, together.
func (c *code) divide(parity, shards int64) {
	for c.groups = 1; ; {
		c.parity = int((parity-1)/int64(c.groups) + 1)
		if c.fits(shards) {
			return
		}
		c.groups = max(c.groups+1, c.leastGroups(shards))
	}
}

// leastGroups returns how many groups there must be with so much parity in each, and so many sectors with it.
func (c *code) leastGroups(shards int64) int {
	n, most := c.sectors(), shards-int64(ceilPow2(c.parity))
	if n <= most || most < runLength {
		return 1
	}
	return int(((n-1)/runLength)/(most/runLength) + 1)
}

// ceilPow2 returns the least power of two that is n or more.
func ceilPow2(n int) int { return 1 << bits.Len(uint(n-1)) }

// smallCode is newCode for so many bytes of parity, but at least one sector, of which there is one for all if that is enough.
func smallCode(size, parity, shards int64) code {
	c := code{size: size, sector: maxSector, groups: 1}
	if parity < 2*maxSector {
		// The sum of the sector and of the checksums is least for this.
		c.sector = int(min(max(roundUp(int64(math.Sqrt(float64(smallSumSize*size))), 64), leastSector), maxSector))
		c.parity = 1
		return c
	}
	c.divide(parity/maxSector, shards)
	return c
}

// BytesOf returns Options.Bytes by which Write makes packets of so many bytes of data of size bytes.
func BytesOf(size, packets int64) int64 {
	s := shape{data: smallCode(size, 2*maxSector, maxShards)}
	sums := s.sums()
	parity := packets - sums.sectors()*headerSize - sums.size
	return max(parity/(headerSize+maxSector), 0) * maxSector
}

// spareCode returns the code of checksums, which have size bytes, in sectors of at most so many bytes.
func spareCode(size int64, sector, parity int) code {
	c := code{size: size, sector: int(min(int64(sector), roundUp(size, 64))), groups: 1, parity: parity}
	if parity > 0 {
		c.groups = c.leastGroups(maxShards)
	}
	return c
}

func roundUp(n, multiple int64) int64 { return (n + multiple - 1) / multiple * multiple }

// valid reports whether there is such a code.
func (c *code) valid() bool {
	if c.size <= 0 || c.sector <= 0 || c.sector > maxSector || c.sector%64 != 0 || c.groups <= 0 || c.parity <= 0 ||
		int64(c.groups) > c.sectors() {
		return false
	}
	return c.parity == 1 || c.fits(maxShards)
}

// fits reports whether there is a code of so many elements for the sectors of a group.
func (c *code) fits(shards int64) bool {
	d := c.perGroup()
	if d > shards || int64(c.parity) > shards {
		return false
	}
	m := int64(ceilPow2(c.parity)) // the code works on so many sectors at a time
	return roundUp(d, m)+m <= shards
}

// ofWords reports whether the code is one of 16-bit words.
func (c *code) ofWords() bool { return c.parity > 1 && !c.fits(maxByteShards) }

// sectors returns how many sectors the data has.
func (c *code) sectors() int64 { return (c.size-1)/int64(c.sector) + 1 }

// length returns the length of a sector.
func (c *code) length(i int64) int { return int(min(c.size-i*int64(c.sector), int64(c.sector))) }

// perGroup returns how many sectors of data a group has, with those beyond the end.
func (c *code) perGroup() int64 {
	n := c.sectors()
	if c.groups == 1 {
		return n
	}
	runs := (n-1)/runLength + 1
	return ((runs-1)/int64(c.groups) + 1) * runLength
}

// place returns the group of a sector, and which of its sectors it is.
func (c *code) place(i int64) (group int, at int64) {
	if c.groups == 1 {
		return 0, i
	}
	run := i / runLength
	return int(run % int64(c.groups)), run/int64(c.groups)*runLength + i%runLength
}

// number is the inverse of place. The sector may lie beyond the end.
func (c *code) number(group int, at int64) int64 {
	if c.groups == 1 {
		return at
	}
	return (at/runLength*int64(c.groups)+int64(group))*runLength + at%runLength
}

// checkTask is how many bytes are read at a time where all sectors are.
const checkTask = 1 << 20

// checksums returns those of all sectors, so many bytes of each, one after the other.
func (c *code) checksums(data io.ReaderAt, threads, length int) ([]byte, error) {
	sums := make([]byte, int(c.sectors())*length)
	perTask := checkTask / int64(c.sector)
	err := eachTask(int((c.sectors()-1)/perTask+1), threads, func(task int, buf []byte) error {
		first := int64(task) * perTask
		at := first * int64(c.sector)
		b := buf[:min(perTask*int64(c.sector), c.size-at)]
		if err := parse.ReadAt(data, b, at); err != nil {
			return err
		}
		for i := first; len(b) > 0; i++ {
			n := min(len(b), c.sector)
			sum := binary.LittleEndian.AppendUint32(nil, checksum(b[:n]))
			copy(sums[int(i)*length:], sum[:length])
			b = b[n:]
		}
		return nil
	})
	return sums, err
}

// eachTask calls f for tasks 0 to n-1, each with checkTask bytes of memory, and returns the first error.
func eachTask(n, threads int, f func(task int, buf []byte) error) error {
	var once sync.Once
	var failed error
	tasks.EachWorker(n, max(threads, 1), func(int) func(int) {
		buf := make([]byte, checkTask)
		return func(i int) {
			if err := f(i, buf); err != nil {
				once.Do(func() { failed = err })
			}
		}
	})
	return failed
}

// stripes is memory for the same columns of all sectors of a group, which are coded side by side, each thread some columns.
type stripes struct {
	c       *code
	coder   reedsolomon.Encoder // nil before columns, and for one sector of parity, which is the sum of all others
	threads int
	width   int      // columns at a time
	shards  [][]byte // each of width bytes: data, then parity
}

// stripes returns memory of so many bytes (0: 64 MiB), roughly, of which each shard needs each columns for each of its bytes.
func (c *code) stripes(threads int, memory uint64, each int) *stripes {
	if memory == 0 {
		memory = 64 << 20
	}
	n := int(c.perGroup()) + c.parity
	s := &stripes{c: c, threads: max(threads, 1)}
	s.width = min(c.sector, max(64, int(memory/uint64(n*each))/64*64))
	all := make([]byte, n*s.width)
	s.shards = make([][]byte, n)
	for i := range s.shards {
		s.shards[i] = all[i*s.width : (i+1)*s.width : (i+1)*s.width]
	}
	return s
}

// makeCoder sets the coder, whose tables Prepare may be making while shards are loaded.
func (s *stripes) makeCoder() (err error) {
	if s.coder != nil || s.c.parity == 1 {
		return nil
	}
	kind := reedsolomon.WithLeopardGF(true)
	if s.c.ofWords() {
		kind = reedsolomon.WithLeopardGF16(true)
	}
	s.coder, err = reedsolomon.New(int(s.c.perGroup()), s.c.parity, kind)
	return err
}

// load reads columns from..to-1 of the sectors of groups from one on into the shards of each, all columns of a run at once. skip, unless
// it is nil, says which sectors not to read.
func (s *stripes) load(data io.ReaderAt, group int, into [][][]byte, from, to int, skip func(i int64) bool) error {
	c, d := s.c, int(s.c.perGroup())
	return eachTask((d-1)/runLength+1, s.threads, func(row int, buf []byte) error {
		whole := to-from == c.sector && skip == nil
		if whole {
			at := c.number(group, int64(row*runLength)) * int64(c.sector)
			n := max(0, min(int64(len(into)*runLength*c.sector), c.size-at))
			if err := parse.ReadAt(data, buf[:n], at); n > 0 && err != nil {
				return err
			}
			clear(buf[n:])
		}
		for g, shards := range into {
			for at := row * runLength; at < min((row+1)*runLength, d); at++ {
				shard := shards[at][:to-from]
				if whole {
					buf = buf[copy(shard, buf):]
					continue
				}
				i, n := c.number(group+g, int64(at)), 0
				if i < c.sectors() && (skip == nil || !skip(i)) {
					n = max(0, min(to, c.length(i))-from)
				}
				if err := parse.ReadAt(data, shard[:n], i*int64(c.sector)+int64(from)); n > 0 && err != nil {
					return err
				}
				clear(shard[n:])
			}
		}
		return nil
	})
}

// columns calls f for parts of n columns, with those of each shard.
func (s *stripes) columns(n int, f func(shards [][]byte, from, to int) error) error {
	if err := s.makeCoder(); err != nil {
		return err
	}
	part := int(roundUp(int64(n-1)/int64(s.threads)+1, 64))
	var parts errgroup.Group
	for from := 0; from < n; from += part {
		parts.Go(func() error {
			to := min(from+part, n)
			shards := make([][]byte, len(s.shards))
			for k := range shards {
				shards[k] = s.shards[k][from:to:to]
			}
			return f(shards, from, to)
		})
	}
	return parts.Wait()
}

// encode calls put with the parity of each group in turn.
func (c *code) encode(data io.ReaderAt, threads int, memory uint64, put func(group int, parity [][]byte) error) error {
	d := int(c.perGroup())
	parity := make([][]byte, c.parity)
	for k := range parity {
		parity[k] = make([]byte, c.sector)
	}
	if c.parity == 1 {
		return c.encodeSums(data, parity, put)
	}
	s := c.stripes(threads, memory, 1)
	// Groups that are read side by side, if there is memory for all their columns.
	most := min(uint64(c.groups), checkTask/uint64(runLength*c.sector), memory/uint64(len(s.shards)*c.sector))
	together := append([][][]byte{s.shards}, make([][][]byte, max(most, 1)-1)...)
	tasks.Each(len(together)-1, s.threads, func(_, i int) { together[i+1] = c.stripes(threads, memory, 1).shards })
	for group := range c.groups {
		s.shards = together[group%len(together)]
		for from := 0; from < c.sector; from += s.width {
			to := min(from+s.width, c.sector)
			if group%len(together) == 0 {
				if err := s.load(data, group, together, from, to, nil); err != nil {
					return err
				}
			}
			err := s.columns(to-from, func(shards [][]byte, lo, hi int) error {
				for k := range parity {
					shards[d+k] = parity[k][from+lo : from+hi]
				}
				return s.coder.Encode(shards)
			})
			if err != nil {
				return err
			}
		}
		if err := put(group, parity); err != nil {
			return err
		}
	}
	return nil
}

// encodeSums is encode where parity is one sector of each group, the sum of the others, which are read in their order.
func (c *code) encodeSums(data io.ReaderAt, parity [][]byte, put func(group int, parity [][]byte) error) error {
	for group := range c.groups {
		sum, buf := parity[0], make([]byte, c.sector)
		clear(sum)
		for at := range c.perGroup() {
			i := c.number(group, at)
			if i >= c.sectors() {
				break
			}
			sector := buf[:c.length(i)]
			if err := parse.ReadAt(data, sector, i*int64(c.sector)); err != nil {
				return err
			}
			subtle.XORBytes(sum, sum, sector)
		}
		if err := put(group, parity); err != nil {
			return err
		}
	}
	return nil
}

// addAll sets sum to the sum of others in the field of two elements.
func addAll(sum []byte, others [][]byte) {
	clear(sum)
	for _, o := range others {
		subtle.XORBytes(sum, sum, o)
	}
}

// mend calls put with each sector of bad, which are in ascending order, as it was. parity reads bytes of sector k of the parity of a
// group; it returns false if that is lost. What is beyond repair is returned.
func (c *code) mend(data io.ReaderAt, bad []int64, parity func(group, k, from int, dst []byte) (bool, error), threads int, memory uint64,
	put func(i int64, sector []byte) error) (left []int64, err error) {
	byGroup := make(map[int][]int64)
	for _, i := range bad {
		g, _ := c.place(i)
		byGroup[g] = append(byGroup[g], i)
	}
	var s *stripes
	for group := range c.groups {
		of := byGroup[group]
		if len(of) == 0 {
			continue
		}
		var have []int // sectors of parity that are used
		for k := 0; k < c.parity && len(have) < len(of); k++ {
			ok, err := parity(group, k, 0, nil)
			if err != nil {
				return nil, err
			}
			if ok {
				have = append(have, k)
			}
		}
		if len(have) < len(of) {
			left = append(left, of...)
			continue
		}
		if s == nil {
			s = c.stripes(threads, memory, 4) // decoding has memory of up to three times as many sectors
		}
		if err := s.mendGroup(data, group, of, have, parity, put); err != nil {
			return nil, err
		}
	}
	return left, nil
}

// mendGroup is mend for a group, of which the sectors in bad are lost and those of the parity in have are there.
func (s *stripes) mendGroup(data io.ReaderAt, group int, bad []int64, have []int,
	parity func(group, k, from int, dst []byte) (bool, error), put func(i int64, sector []byte) error) error {
	c, d := s.c, int(s.c.perGroup())
	lost := make(map[int64]bool, len(bad))
	mended := make([][]byte, len(bad))
	for i, b := range bad {
		lost[b] = true
		mended[i] = make([]byte, c.sector)
	}
	for from := 0; from < c.sector; from += s.width {
		to := min(from+s.width, c.sector)
		if err := s.load(data, group, [][][]byte{s.shards}, from, to, func(i int64) bool { return lost[i] }); err != nil {
			return err
		}
		for _, k := range have {
			if _, err := parity(group, k, from, s.shards[d+k][:to-from]); err != nil {
				return err
			}
		}
		err := s.columns(to-from, func(shards [][]byte, lo, hi int) error {
			there := make(map[int]bool, len(have))
			for _, k := range have {
				there[k] = true
			}
			for k := range c.parity {
				if !there[k] {
					shards[d+k] = nil
				}
			}
			for i, b := range bad {
				_, at := c.place(b)
				if s.coder == nil {
					addAll(mended[i][from+lo:from+hi], shards) // that of the lost sector is zeros
					return nil
				}
				shards[at] = mended[i][from+lo : from+lo : from+hi]
			}
			return s.coder.ReconstructData(shards)
		})
		if err != nil {
			return err
		}
	}
	for i, b := range bad {
		if err := put(b, mended[i][:c.length(b)]); err != nil {
			return err
		}
	}
	return nil
}

// Package parity protects a run of bytes, such as a file, against damage. Write makes packets of it: a checksum of each sector, and
// sectors of parity by Reed-Solomon codes. Given what is left of the bytes and of the packets, Read and Set.Check find out which sectors
// are as they were, even where bytes were inserted or removed, and View.Mend restores the others. docs/FORMAT.md, section Parity,
// specifies the packets.
package parity

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"

	"github.com/zeebo/xxh3"

	"orcomgo/bins/commit"
)

// The lengths of sectors, in bytes.
const (
	// diskSector is the longest where a share is restored: disks lose such pieces.
	diskSector = 4096
	// maxSector is the longest. Parity within an archive has it, so that the checksums of all sectors take half as much.
	maxSector = 8192
)

// mostSmall is the most sectors that are shorter than diskSector, so that packets of many sectors are not small.
const mostSmall = 2048

const (
	magic      = commit.ParityMagic
	version    = 1
	headerSize = 72
)

// The kinds of packets.
const (
	kindSums   = iota // checksums of sectors
	kindSpare         // parity of the checksums
	kindParity        // parity of the sectors
	kinds
)

// shape is what all packets of a set say of it.
type shape struct {
	id      [16]byte // of the archive, or of the side archive's or index's content
	set     uint64   // XXH3-64 of the other fields and of the checksums
	data    code
	spare   uint32 // sectors of parity of the checksums
	version byte
}

// packet is the place of a packet in its file.
type packet struct {
	kind   byte
	number uint64
}

// append appends the fields of s, set excepted, that its hash is of.
func (s *shape) append(b []byte) []byte {
	b = append(b, s.id[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(s.data.size))
	for _, v := range []int{s.data.groups, s.data.parity, int(s.spare), s.data.sector} {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return b
}

// hash returns what set is, given the checksums.
func (s *shape) hash(sums []byte) uint64 {
	h := xxh3.New()
	h.Write(s.append(nil)) // a Hasher does not fail
	h.Write(sums)
	return h.Sum64()
}

// sums returns the code of the checksums.
func (s *shape) sums() code {
	return spareCode(s.data.sectors()*int64(s.sumSize()), s.data.sector, int(s.spare))
}

// packets returns how many there are of each kind.
func (s *shape) packets() (n [kinds]uint64) {
	sums := s.sums()
	return [kinds]uint64{
		uint64(sums.sectors()), uint64(sums.groups) * uint64(sums.parity), uint64(s.data.groups) * uint64(s.data.parity)}
}

// appendPacket appends a packet to b.
func (s *shape) appendPacket(b []byte, p packet, payload []byte) []byte {
	start := len(b)
	b = append(b, magic...)
	b = append(b, make([]byte, 8)...) // the checksum
	b = append(b, s.id[:]...)
	b = binary.LittleEndian.AppendUint64(b, s.set)
	b = binary.LittleEndian.AppendUint64(b, uint64(s.data.size))
	for _, v := range []int{s.data.groups, s.data.parity, int(s.spare)} {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	b = binary.LittleEndian.AppendUint16(b, uint16(s.data.sector))
	b = append(b, p.kind, version)
	b = binary.LittleEndian.AppendUint64(b, p.number)
	b = append(b, payload...)
	binary.LittleEndian.PutUint64(b[start+8:], xxh3.Hash(b[start+16:]))
	return b
}

// parsePacket parses the packet that b begins with; length is how many bytes it has. ok is false if b does not begin with a whole one.
func parsePacket(b []byte) (s shape, p packet, length int, ok bool) {
	if len(b) < headerSize || string(b[:len(magic)]) != magic {
		return s, p, 0, false
	}
	le := binary.LittleEndian
	s.id, s.set = [16]byte(b[16:]), le.Uint64(b[32:])
	size, groups, parity := le.Uint64(b[40:]), le.Uint32(b[48:]), le.Uint32(b[52:])
	s.spare, s.version = le.Uint32(b[56:]), b[63]
	s.data = code{size: int64(size), sector: int(le.Uint16(b[60:])), groups: int(groups), parity: int(parity)}
	p = packet{b[62], le.Uint64(b[64:])}
	if s.version != version || p.kind >= kinds || size > math.MaxInt64/2 || s.spare > maxSpare || !s.data.valid() {
		return s, p, 0, false
	}
	if s.data.sector < diskSector && s.data.sectors() > mostSmall || p.number >= s.packets()[p.kind] {
		return s, p, 0, false
	}
	length = headerSize + s.data.sector
	switch sums := s.sums(); p.kind {
	case kindSums:
		length = headerSize + sums.length(int64(p.number))
	case kindSpare:
		length = headerSize + sums.sector
	}
	if len(b) < length || xxh3.Hash(b[16:length]) != le.Uint64(b[8:]) {
		return s, p, 0, false
	}
	return s, p, length, true
}

// The lengths of the checksum of a sector: in a file of parity, and within an archive, whose sections have checksums besides.
const (
	sumSize      = 4
	smallSumSize = 2
)

// sumSize returns the length of the checksum of a sector.
func (s *shape) sumSize() int {
	if s.spare == 0 {
		return smallSumSize
	}
	return sumSize
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is that of a sector.
func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// Options say how much parity Write makes.
type Options struct {
	ID [16]byte // of what is protected
	// Share is the part of the sectors that can be restored, at least two sectors, where it is above 0. At most MaxShare.
	Share float64
	// Bytes is, where Share is 0, how many bytes of parity there are, but at least one sector; the packets have no copies of anything.
	Bytes   int64
	Threads int
	Memory  uint64 // bytes to use, more or less; 0 for 64 MiB
}

// MaxShare is the largest Options.Share.
const MaxShare = 0.2

// Write writes the packets for the first size bytes of data, at least one. The bytes written depend on data, ID, Share and Bytes, and on
// whether the program's limit of memory allows codes of words.
func Write(w io.Writer, data io.ReaderAt, size int64, o Options) error {
	s, shards := shape{id: o.ID}, int64(maxShards)
	if memoryLimit() < writeWordsLimit {
		shards = maxByteShards
	}
	if o.Share > 0 {
		s.data = newCode(size, min(o.Share, MaxShare), shards)
		sums := (s.data.sectors()*sumSize-1)/int64(s.data.sector) + 1
		s.spare = uint32(min(sums/4+1, maxSpare)) // a quarter, as nothing can be mended without them
	} else {
		s.data = smallCode(size, o.Bytes, shards)
	}
	sums, err := s.data.checksums(data, o.Threads, s.sumSize())
	if err != nil {
		return err
	}
	s.set = s.hash(sums)
	var b []byte
	write := func(kind byte, number int64, payload []byte) error {
		b = s.appendPacket(b[:0], packet{kind, uint64(number)}, payload)
		_, err := w.Write(b)
		return err
	}
	c := s.sums()
	for i := range c.sectors() {
		from := i * int64(c.sector)
		if err := write(kindSums, i, sums[from:from+int64(c.length(i))]); err != nil {
			return err
		}
	}
	encode := func(kind byte, c *code, data io.ReaderAt) error {
		return c.encode(data, o.Threads, o.Memory, func(group int, parity [][]byte) error {
			for k, p := range parity {
				if err := write(kind, int64(group)*int64(c.parity)+int64(k), p); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := encode(kindParity, &s.data, data); err != nil {
		return err
	}
	if s.spare == 0 {
		return nil
	}
	return encode(kindSpare, &c, bytes.NewReader(sums))
}

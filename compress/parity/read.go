package parity

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"orcomgo/bins/parse"
	"orcomgo/bins/vfs"
)

// Set is what is left of the packets that Write made.
type Set struct {
	shape
	from    io.ReaderAt
	file    *vfs.File               // of Open, or nil
	at      [kinds]map[uint64]int64 // where the payload of each packet is
	sums    []byte
	Packets uint64 // there were
	Lost    uint64 // of them
}

// ID returns Options.ID.
func (s *Set) ID() [16]byte { return s.id }

// Size returns how many bytes are protected.
func (s *Set) Size() int64 { return s.data.size }

// Share returns the part of the sectors that can be restored.
func (s *Set) Share() float64 {
	return float64(s.data.groups) * float64(s.data.parity) / float64(s.data.sectors())
}

// hasShare reports whether there are as many sectors of parity as Options.Share makes, which are rounded.
func (s *Set) hasShare(share float64) bool {
	want := newCode(s.data.size, min(share, MaxShare), maxShards)
	return s.data.groups*s.data.parity >= want.groups*want.parity
}

// Sectors returns how many sectors these are.
func (s *Set) Sectors() int64 { return s.data.sectors() }

// Open finds the packets in the file at path, as Read does, and returns nil if there is no such file. Close the set when it is not needed
// any more. The errors of Read name the file.
func Open(path string) (*Set, error) {
	f, err := vfs.OpenRegular(path)
	if isMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	s, err := Read(f, info.Size())
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s.file = f
	return s, nil
}

// isMissing reports whether an error of opening a file says that there is no regular file.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, vfs.ErrNotRegular)
}

// damage says how many packets are damaged.
func (s *Set) damage() string { return fmt.Sprintf("%d of %d packets are damaged", s.Lost, s.Packets) }

// Problem returns what is wrong with the packets of a file that Open has read, nil for nothing. It wraps parse.ErrCorrupt.
func (s *Set) Problem() error {
	if s.Lost == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s: orcomgo repair makes them again: %w", s.file.Name(), s.damage(), parse.ErrCorrupt)
}

// Close closes the file of a set that Open returned.
func (s *Set) Close() error { return s.file.Close() }

// mostSets bounds how many sets Read tells apart: a file has one, and what is left of older ones.
const mostSets = 64

// Read finds the packets in the first size bytes of r, of which other bytes may have been changed, inserted or removed. If they are of
// several sets, the one of most packets counts. The error wraps parse.ErrCorrupt if too few are left, or none.
func Read(r io.ReaderAt, size int64) (*Set, error) {
	sets := make(map[shape]*Set)
	buf := make([]byte, checkTask)
	for at := int64(0); at < size; {
		b := buf[:min(size-at, int64(len(buf)))]
		if err := parse.ReadAt(r, b, at); err != nil {
			return nil, err
		}
		done := findPackets(b, at+int64(len(b)) == size, func(s shape, p packet, from int) {
			if sets[s] == nil {
				if len(sets) == mostSets {
					return
				}
				sets[s] = &Set{shape: s, from: r}
			}
			if sets[s].at[p.kind] == nil {
				sets[s].at[p.kind] = make(map[uint64]int64)
			}
			sets[s].at[p.kind][p.number] = at + int64(from)
		})
		at += int64(done)
	}
	var best *Set
	for _, s := range sets {
		if best == nil || s.there() > best.there() || s.there() == best.there() && s.set > best.set {
			best = s
		}
	}
	if best == nil {
		return nil, fmt.Errorf("it has no parity that is whole: %w", parse.ErrCorrupt)
	}
	for _, n := range best.packets() {
		best.Packets += n
	}
	best.Lost = best.Packets - best.there()
	return best, best.readSums()
}

// there returns how many packets were found.
func (s *Set) there() (n uint64) {
	for _, at := range s.at {
		n += uint64(len(at))
	}
	return n
}

// findPackets calls found with the packets in b, each with where its payload is, and returns how many bytes need not be looked at again.
// last says that nothing follows b.
func findPackets(b []byte, last bool, found func(s shape, p packet, payload int)) (done int) {
	for {
		i := bytes.Index(b[done:], []byte(magic))
		if i < 0 {
			if last {
				return len(b)
			}
			return max(done, len(b)-len(magic)+1)
		}
		done += i
		if len(b)-done < headerSize+maxSector && !last {
			return done
		}
		s, p, n, ok := parsePacket(b[done:])
		if !ok {
			done++
			continue
		}
		found(s, p, done+headerSize)
		done += n
	}
}

// readSums reads the checksums of the sectors, and restores those that are lost.
func (s *Set) readSums() error {
	c := s.shape.sums()
	if uint64(c.sectors()) > uint64(len(s.at[kindSums])+len(s.at[kindSpare])) {
		return fmt.Errorf("%d of %d packets of checksums are lost: %w", c.sectors()-int64(len(s.at[kindSums])), c.sectors(), parse.ErrCorrupt)
	}
	if uint64(s.data.sectors()) > memoryLimit()/4/sectorMemory {
		return fmt.Errorf("the checksums of %d sectors: %w", s.data.sectors(), ErrMemory)
	}
	s.sums = make([]byte, c.size)
	var bad []int64
	for i := range c.sectors() {
		at, ok := s.at[kindSums][uint64(i)]
		if !ok {
			bad = append(bad, i)
			continue
		}
		if err := parse.ReadAt(s.from, s.sums[i*int64(c.sector):][:c.length(i)], at); err != nil {
			return err
		}
	}
	if len(bad) > 0 {
		left, err := c.mend(bytes.NewReader(s.sums), bad, s.readParity(kindSpare, &c), 1, 0, func(i int64, b []byte) error {
			copy(s.sums[i*int64(c.sector):], b)
			return nil
		})
		if err != nil {
			return err
		}
		if len(left) > 0 {
			return fmt.Errorf("%d packets of checksums are lost: %w", len(left), parse.ErrCorrupt)
		}
	}
	if s.hash(s.sums) != s.set {
		return fmt.Errorf("the checksums of its sectors are not those that it was made with: %w", parse.ErrCorrupt)
	}
	return nil
}

// readParity returns the function that code.mend needs.
func (s *Set) readParity(kind byte, c *code) func(group, k, from int, dst []byte) (bool, error) {
	return func(group, k, from int, dst []byte) (bool, error) {
		at, ok := s.at[kind][uint64(group)*uint64(c.parity)+uint64(k)]
		if !ok || len(dst) == 0 {
			return ok, nil
		}
		return true, parse.ReadAt(s.from, dst, at+int64(from))
	}
}

// isSector reports whether b has the checksum of a sector.
func (s *Set) isSector(b []byte, i int64) bool {
	size := int64(s.sumSize())
	return bytes.HasPrefix(binary.LittleEndian.AppendUint32(nil, checksum(b)), s.sums[i*size:(i+1)*size])
}

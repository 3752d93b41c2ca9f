//go:build !(amd64 || arm64) || race || inflate_checked

package deflate

import "encoding/binary"

// Load32 returns four bytes at a place.
func Load32(b []byte, i int) uint32 { return binary.LittleEndian.Uint32(b[i:]) }

// Load64 returns eight bytes at a place.
func Load64(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }

// Store64 stores eight bytes at a place.
func Store64(b []byte, i int, v uint64) { binary.LittleEndian.PutUint64(b[i:], v) }

// Store32 stores four bytes at a place.
func Store32(b []byte, i int, v uint32) { binary.LittleEndian.PutUint32(b[i:], v) }

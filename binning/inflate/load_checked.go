//go:build !(amd64 || arm64) || race || inflate_checked

package inflate

import "encoding/binary"

func load64(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }

func store64(b []byte, i int, v uint64) { binary.LittleEndian.PutUint64(b[i:], v) }

func store32(b []byte, i int, v uint32) { binary.LittleEndian.PutUint32(b[i:], v) }

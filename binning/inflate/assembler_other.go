//go:build !amd64 || race || inflate_checked

package inflate

import "hash/crc32"

// updateCRC is crc32.Update for the polynomial of IEEE.
func updateCRC(crc uint32, text []byte) uint32 { return crc32.Update(crc, crc32.IEEETable, text) }

func (d *decoder) fast() { d.fastPlain() }

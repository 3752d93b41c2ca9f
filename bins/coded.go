package bins

import "fmt"

// Coded is the names or qualities of a block as they are stored: chunks of 1 MiB of them, the last one shorter, coded one by
// one. docs/FORMAT.md, section Bins, says how; the methods must be those that EncodeBlock chooses, since equal input gives equal
// archives.
type Coded struct {
	Raw     uint64   // bytes before coding
	Data    []byte   // the chunks, end to end
	Methods []uint8  // of each chunk, as in the directory
	Ends    []uint64 // where each chunk ends in Data
}

// divide sets methods of a section and the pieces to the chunks.
func (c *Coded) divide(s *section, sec int, pieces [][]byte) error {
	n := len(pieces)
	if len(c.Methods) != n || len(c.Ends) != n || n > 0 && c.Ends[n-1] != uint64(len(c.Data)) || n == 0 && len(c.Data) > 0 {
		return fmt.Errorf("bins: %s: %d bytes are coded as %d chunks with %d ends", sectionNames[sec], c.Raw, len(c.Methods), len(c.Ends))
	}
	start := uint64(0)
	for j, end := range c.Ends {
		s.methods[j] = c.Methods[j]
		if end < start || end > uint64(len(c.Data)) || !knownMethod(c.Methods[j], sec) || !s.fits(j, end-start) {
			return fmt.Errorf("bins: %s: chunk %d is coded by method %d as bytes %d to %d", sectionNames[sec], j, c.Methods[j], start, end)
		}
		pieces[j] = c.Data[start:end]
		start = end
	}
	return nil
}

// rawSize returns how many bytes a column has before coding, either as it is or coded, and whether there is one.
func rawSize(text []byte, coded *Coded) (n uint64, kept bool) {
	if coded != nil {
		return coded.Raw, true
	}
	return uint64(len(text)), text != nil
}

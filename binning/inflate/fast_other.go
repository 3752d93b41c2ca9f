//go:build !amd64 || race || inflate_checked

package inflate

func (d *decoder) fast() { d.fastPlain() }

func (d *decoder) fastWide() { d.fastPlain() }

func hasPairs() bool { return false }

// decodePair is only called if hasPairs.
func decodePair(_, _ *decoder) (valid bool) { return false }

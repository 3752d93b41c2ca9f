//go:build !amd64 || race || inflate_checked

package inflate

func (d *decoder) fast() { d.fastPlain() }

//go:build !amd64

package basemodel

func (x *predictor) codeStep(decoding bool) { x.stepPlain(decoding) }

func (m *Model) passStep() { m.passPlain() }

func (x *predictor) fetch([]uint32, []uint64) {}

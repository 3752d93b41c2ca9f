//go:build !amd64

package quals

func predict(slots []line, r *round) { predictPlain(slots, r) }

func decodeRanks(r *round, words []byte) (n int) { return decodePlain(r, words) }

func learn(slots []line, r *round, rate, dither int32) { learnPlain(slots, r, rate, dither) }

func (h *histories) append(symbols *[numLanes]uint32, top uint32) { h.appendPlain(symbols, top) }

func (m *model) contexts(h *histories, at *[numFeatures][numLanes]uint32) { m.contextsPlain(h, at) }

package seqs

import (
	"testing"

	"orcomgo/bins/record"
	"orcomgo/compress/basemodel"
)

// TestLiteralsAfterTheModel: a slice that has to wait for the model codes its literals when it goes on again, so that only as many slices
// copy the model at once as go on at once; else literals are coded side by side with the other reads.
func TestLiteralsAfterTheModel(t *testing.T) {
	r := &columnReads{cols: []*Column{{Records: 1, Lengths: record.Lengths{Fixed: 10}}}, where: []*places{newPlaces(1)},
		exceptions: []*record.ExceptionList{{}}}
	r.where[0].pos[0] = unplaced
	for _, there := range []bool{false, true} {
		modeled, begun := make(chan struct{}), make(chan struct{})
		if there {
			close(modeled)
		}
		goesOn, literals := true, 0
		s := &slice{modeled: modeled, model: func() (*basemodel.Model, error) { <-modeled; return nil, nil }}
		s.releaseWhile = func(wait func()) {
			goesOn = false
			wait()
			goesOn = true
		}
		placed := func() {
			if there {
				<-begun
			} else {
				go close(modeled)
			}
		}
		err := s.codeReads(r, []int{0}, func() error {
			if literals++; !there && !goesOn {
				t.Error("literals are coded while the slice waits")
			}
			if there {
				close(begun)
			}
			return nil
		}, []func(){placed})
		if err != nil || literals != 1 || !goesOn {
			t.Errorf("there %t: error %v, literals coded %d times, the slice goes on: %t", there, err, literals, goesOn)
		}
	}
}

package binning

import (
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"reflect"
	"testing"

	"orcomgo/bins"
	"orcomgo/internal/tasks"
	"orcomgo/internal/testrun"
)

// TestLongReads: reads that several threads pack make the same block as others, and give the same errors.
func TestLongReads(t *testing.T) {
	r := rand.New(rand.NewSource(4))
	for n := range testrun.Pick(60, 200, 200) {
		var text bytes.Buffer
		for i := range 1 + r.Intn(4) {
			read := make([]byte, r.Intn(400))
			letters := []string{"ACGT", "ACGTN", "NNNNNNNNNNNNNNNNNNNNNNACGTacgt", "acgt", "A"}[r.Intn(5)]
			for k := range read {
				read[k] = letters[k/7*r.Intn(9)%len(letters)]
			}
			if n%20 == 0 && len(read) > 0 {
				read[r.Intn(len(read))] = '1'
			}
			fmt.Fprintf(&text, "@%d\n%s\n+\n%s\n", i, read, bytes.Repeat([]byte{'I'}, len(read)))
		}
		assign := func(long longReads) (*bins.Block, error) {
			a := NewCPU(Resources{Threads: 2, Streams: 1, Run: tasks.NewPool(2).Run})
			defer a.Close()
			a.(*cpu).long = long
			block := &bins.Block{}
			err := a.Assign(context.Background(), &Text{Data: text.Bytes(), Last: true, Keep: Keep{Names: true, Quals: true, Forms: true}}, block)
			return block, err
		}
		want, wantErr := assign(longReads{1 << 30, 1 << 20})
		for _, piece := range []int{32, 96, 1 << 20} {
			got, err := assign(longReads{1 + r.Intn(200), piece})
			if !reflect.DeepEqual(err, wantErr) || err == nil && !reflect.DeepEqual(got, want) {
				t.Fatalf("pieces of %d: another block or error: %v, %v\n%s", piece, err, wantErr, text.Bytes())
			}
		}
	}
}

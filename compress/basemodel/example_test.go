package basemodel_test

import (
	"fmt"

	"orcomgo/compress/basemodel"
)

// A sequence is coded as a section; other bases are then coded under the model that has learnt it.
func Example() {
	genome := []byte{0, 1, 2, 3, 3, 1, 0, 2, 2, 0, 1, 3, 1, 2, 0, 3, 0, 0, 2, 1, 3, 2, 1, 1, 0, 3, 3, 2, 0, 1, 1, 3, 0, 2, 2, 3, 1, 0, 0, 2}
	source := func(dst []byte, pos, n int) []byte { return append(dst, genome[pos:pos+n]...) }
	var model *basemodel.Model
	section := basemodel.Encode(len(genome), source, basemodel.Options{
		Threads: 1, Model: func(m *basemodel.Model) { model = m },
	})

	read := genome[4:36]
	literal := model.Clone(len(read)).Append(nil, &basemodel.Literals{Bases: read})

	sequence, err := basemodel.Decode(section, basemodel.Options{Threads: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err = sequence.Model() // waits until all is decoded
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(sequence.Append(nil, 0, 8))
	decoded := make([]byte, len(read))
	if err := model.Clone(len(read)).Decode(literal, &basemodel.Literals{Bases: decoded}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(decoded) == string(read))
	// Output:
	// [0 1 2 3 3 1 0 2]
	// true
}

package sim_test

import (
	"bytes"
	"fmt"
	"log"

	"orcomgo/cmd/simreads/sim"
)

// Pairs of an invented genome. The same Config gives the same bytes.
func Example() {
	genome := sim.Invent(sim.GenomeConfig{Size: 100_000, Seed: 1})
	c := sim.Config{Genome: genome, Length: 50, Paired: true, Quality: sim.Levels4, Names: sim.ENA, Seed: 7}
	c.Reads = c.ReadsFor(2) // pairs that cover the genome twice
	s, err := sim.New(c)
	if err != nil {
		log.Fatal(err)
	}
	first, second := s.All()
	fmt.Println(c.Reads, "pairs,", bytes.Count(first, []byte("\n")), "and", bytes.Count(second, []byte("\n")), "lines")
	fmt.Println(bytes.HasSuffix(bytes.SplitN(second, []byte("\n"), 2)[0], []byte("1/2")))
	// Output:
	// 2000 pairs, 8000 and 8000 lines
	// true
}

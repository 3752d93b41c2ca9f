// Package sim draws sequencing reads from a genome: Illumina-like single reads and pairs,
// and long reads, whose errors follow the qualities it prints with them: substitutions, insertions and deletions. Simulator.Each says of
// each read where it comes from and what its errors are.
//
// A simulation is a pure function of its Config. Reads come in chunks, each from a random
// stream of its own, so that any number of workers may make any chunks in any order and
// the concatenation is always the same bytes:
//
//	s, err := sim.New(sim.Config{Genome: sim.Invent(sim.GenomeConfig{Size: 1e6, Seed: 1}), Reads: 10_000})
//	r1, r2 := s.All()
package sim

package samples

// Join returns a sample with the inputs of all samples of a list, which know the names of theirs.
func Join(name string, list []Sample) Sample {
	all := Sample{Name: name, Root: list[0].Root}
	for _, s := range list {
		n := len(all.Inputs)
		for _, in := range s.Inputs {
			if in.Mate >= 0 {
				in.Mate += n
			}
			if in.Further {
				in.Lead += n
			}
			in.Sample = s.Name
			all.Inputs = append(all.Inputs, in)
		}
	}
	return all
}

// Members returns the names of the samples of Join, nil of any other sample.
func (s *Sample) Members() (names []string) {
	for _, in := range s.Inputs {
		if n := len(names); in.Sample != "" && (n == 0 || names[n-1] != in.Sample) {
			names = append(names, in.Sample)
		}
	}
	return names
}

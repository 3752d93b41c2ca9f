package minimizer

func init() {
	if hasAVX2 {
		finders["findVector"] = findVector
	}
}

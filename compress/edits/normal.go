package edits

// An insertion or a deletion in a run of equal bases, or in a tandem repeat, can be at any of several places with the same result. The
// encoder moves it to the first of them, where its class is that of its run.

// normalise returns the edits of a piece of the template so moved, without deletions at its ends and substitutions that change nothing, in
// the memory of dst; how many bases
// of the template were deleted before its first base; and how many are left.
func normalise(dst, edits []Edit, t []byte, length int) (moved []Edit, from, left int) {
	left = length
	for len(edits) > 0 && edits[0].Kind == Deletion && int(edits[0].At) == from {
		from++
		edits = edits[1:]
	}
	edits, left = withoutLast(edits, left)
	dst = dst[:0]
	for _, e := range edits {
		if e.Kind != Substitution || e.Base != t[e.At] {
			e.At -= uint32(from)
			dst = append(dst, e)
		}
	}
	t, left = t[from:], left-from
	least := 0 // a group must not be moved before this base
	for i := 0; i < len(dst); {
		e := dst[i]
		at := int(e.At)
		if e.Kind == Substitution {
			least = at + 1
			i++
			continue
		}
		n := 1
		for i+n < len(dst) && dst[i+n].Kind == e.Kind &&
			(e.Kind == Insertion && dst[i+n].At == e.At || e.Kind == Deletion && int(dst[i+n].At) == at+n) {
			n++
		}
		group := dst[i : i+n]
		if e.Kind == Insertion {
			least = moveInsertion(group, t, least)
			i += n
			continue
		}
		least = moveDeletion(group, t, least)
		if i == 0 && group[0].At == 0 { // the piece begins after them
			dst = dst[:copy(dst, dst[n:])]
			for k := range dst {
				dst[k].At -= uint32(n)
			}
			t, from, left, least = t[n:], from+n, left-n, 0
			continue
		}
		i += n
	}
	dst, left = withoutLast(dst, left) // there is one if an insertion after it was moved
	return dst, from, left
}

// withoutLast returns the edits without deletions at the end of a piece that has left bases of the template, and how many it has without
// these.
func withoutLast(edits []Edit, left int) ([]Edit, int) {
	for k := len(edits) - 1; k >= 0 && edits[k].Kind == Deletion && int(edits[k].At) == left-1; k-- {
		edits, left = edits[:k], left-1
	}
	return edits, left
}

// moveInsertion moves inserted bases and returns the first base after them.
func moveInsertion(group []Edit, t []byte, least int) int {
	at, n := int(group[0].At), len(group)
	for at > least && t[at-1] == group[n-1].Base {
		b := group[n-1].Base
		for k := n - 1; k > 0; k-- {
			group[k].Base = group[k-1].Base
		}
		group[0].Base = b
		at--
	}
	for k := range group {
		group[k].At = uint32(at)
	}
	return at
}

// moveDeletion moves deleted bases and returns the first base after them.
func moveDeletion(group []Edit, t []byte, least int) int {
	at, n := int(group[0].At), len(group)
	for at > least && t[at-1] == t[at-1+n] {
		at--
	}
	for k := range group {
		group[k].At = uint32(at + k)
	}
	return at + n
}

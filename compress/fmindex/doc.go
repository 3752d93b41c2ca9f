// Package fmindex is an index of a long sequence of bases in which any other sequence is found in time that does not depend on the length
// of the first: an FM-index (Ferragina and Manzini, "Opportunistic data structures with applications", 2000). It is the content of the
// .cfm files of archives; docs/FORMAT.md, "Search index", is the specification.
//
// The text is the pseudogenome of an archive, then its literals: the stretches of reads that are not given by the pseudogenome. The
// index has, for N bases of text,
//
//   - the Burrows-Wheeler transform of the text, 192 bases in a cache line of 64 bytes, with the counts of the bases before it
//     (rank.go): 2.67 bits a base. A step of a search reads one or two cache lines and counts bits.
//   - the place in the text of every 64th row of the sorted suffixes (locate.go): 0.5 bits a base;
//   - how many bases of reads cover each stretch of 64 bases of the pseudogenome (coverage.go): 0.25 bits a base;
//   - the lengths of the literals (literals.go), a byte or two each, and their bases, if these are few, two bits each;
//   - in which slices reads begin at each eight bases of the pseudogenome (begins.go): about a byte a read, in blocks that are read only
//     where they are needed;
//   - the rows of up to 1024 places, from which the text itself is restored (locate.go).
//
// An index may be opened without its ranks, which are most of it, where bytes are what costs: the pseudogenome, which comes from elsewhere
// then, and the literals are gone through.
//
// Rows are numbered from 0. Row 0 is the empty suffix, so there are N + 1 rows. All methods of an Index are safe for concurrent use.
package fmindex

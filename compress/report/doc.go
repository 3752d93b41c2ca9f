// Package report describes an archive by figures of its records: qualities and bases by cycle, lengths, GC, N, duplicates, coverage of
// the pseudogenome, fields of names, what each column costs, and whether every byte is as it was. Make decodes the archive once. Page
// writes the figures as a self-contained page with plots, MultiQC as the custom content that MultiQC reads.
//
// A cycle is a position in the reads, counted from 1, as sequencers count. The reads of a fragment have numbers: 1 for the first mates
// and for reads without mates, 2 for the second mates, 3 and on for further ones such as those of an index.
//
// Figures are of all records, with two exceptions that say so: duplicates are counted for a sample of the sequences chosen by hash, and
// gzip compresses a sample of the text. Neither depends on the number of threads.
package report

// Package gzexact describes a gzip file so that it can be made again, byte for byte, of its text.
//
// What a program writes for a text depends on few choices: where matches are looked for, which are taken, where blocks end, and how the
// codes of a block are built. Most files are made by zlib, gzip, pigz or libdeflate, whose choices follow from the text and the level.
// Describe reads a file to its tokens and blocks (inflate.go, scan.go) and guesses the writer from its beginning (guess.go). A predictor
// (writer.go) says for each token, block and code what the writer would choose next, given what was chosen before. Only where it is wrong,
// what was chosen is coded (task.go, model.go), so every deflate stream can be described, and the description of one whose writer is
// known takes some ten bytes for each MiB of text. Restore has the same predictor, the text, and these corrections, and writes the file.
// That it goes on from what was chosen and not from what it predicted is an idea of preflate.
//
// zlib.go predicts zlib, gzip and pigz; libdeflate.go libdeflate, which bgzip uses, and BGZF files of other programs have by an older
// version; both look for matches by chains.go. near.go predicts libdeflate from level 10 on, by matchtree.go. Prefix codes are those of
// trees.go.
//
// A file is cut into frames of about 1 MiB of text at ends of blocks (frame.go). A frame is coded by itself: the state of the
// predictors is, nearly, a function of the 32 KiB of text before it. So frames are coded and decoded by several goroutines (queue.go). The
// fast levels of zlib and those of near.go depend on tokens of any distance before; their frames are carried on, one after another, but
// where a member begins, or pigz begins anew.
//
// Not known are: --rsyncable of gzip, igzip, the writers of Go and klauspost, 7-Zip, zopfli. Their files come back where the corrections
// are small enough.
//
// docs/FORMAT.md, "Gzip descriptions", is the specification.
package gzexact

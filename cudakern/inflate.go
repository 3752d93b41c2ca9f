package cudakern

// MaxMember is the most bytes of a member's stream, and of its text: as much as BGZF has.
const MaxMember = 1 << 16

// Member is a raw deflate stream (RFC 1951) among a lane's compressed bytes, and what the footer of
// its gzip member says of its text.
type Member struct {
	From, Size uint32 // the stream, in the compressed bytes
	To, Length uint32 // its text, in the lane's text
	CRC        uint32
}

// InflateStatus is what inflating a member has come to. A member that is InflateRight is one that
// compress/flate inflates to the same text, from all bytes of the stream.
type InflateStatus uint32

// The outcomes of inflating a member.
const (
	InflateRight   InflateStatus = iota
	InflateCorrupt               // no valid stream
	InflateCut                   // the stream goes on behind its bytes
	InflateRest                  // the stream ends before its bytes do; compress/flate ignores the rest
	InflateLonger                // there is more text than Length
	InflateShorter               // there is less text than Length
	InflateCRC                   // the text has another CRC-32
	inflateKinds
)

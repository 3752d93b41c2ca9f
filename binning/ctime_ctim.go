//go:build linux || openbsd || dragonfly || solaris || illumos

package binning

import (
	"io/fs"
	"syscall"
	"time"
)

// changeTime returns when the content or the status of a file was changed last.
func changeTime(info fs.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(int64(st.Ctim.Sec), int64(st.Ctim.Nsec))
	}
	return time.Time{}
}

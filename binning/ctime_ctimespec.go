//go:build darwin || freebsd || netbsd

package binning

import (
	"io/fs"
	"syscall"
	"time"
)

// changeTime returns when the content or the status of a file was changed last.
func changeTime(info fs.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(int64(st.Ctimespec.Sec), int64(st.Ctimespec.Nsec))
	}
	return time.Time{}
}

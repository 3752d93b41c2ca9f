package main

import (
	"fmt"
	"strconv"
	"time"
)

// commitTime returns a number of seconds since 1970 as SPDX writes times; "" is 0.
func commitTime(seconds string) (string, error) {
	n := int64(0)
	if seconds != "" {
		var err error
		if n, err = strconv.ParseInt(seconds, 10, 64); err != nil {
			return "", fmt.Errorf("SOURCE_DATE_EPOCH is %q: expected seconds since 1970", seconds)
		}
	}
	return time.Unix(n, 0).UTC().Format(time.RFC3339), nil
}

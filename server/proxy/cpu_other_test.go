//go:build !unix

package proxy

import "time"

func cpu() time.Duration { return 0 }

//go:build !unix

package server

import "time"

func processorTime() time.Duration { return 0 }

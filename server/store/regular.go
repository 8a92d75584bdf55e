package store

import (
	"fmt"
	"io"
	"os"
)

// ReadRegular is os.ReadFile for a file that somebody may have put there: reading a fifo or a device would wait for ever, so that it is an
// error. The look comes before the file is opened, since opening a fifo waits, too.
func ReadRegular(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file: move it away", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

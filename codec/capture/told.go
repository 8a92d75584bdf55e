package capture

import (
	"io"

	"wirebench/codec/logs"
	"wirebench/codec/pcap"
	"wirebench/codec/scan"
)

// ReadTold reads the data that an export of Wirebench stored about a capture and its frames with a mark or a note, numbered as when the
// file is read. The file is a pcapng, JSON Lines, or a table. ok is false if it is not one, which its first bytes show. The error is an
// error of r.
func ReadTold(r io.Reader) (out pcap.CaptureTold, ok bool, err error) {
	in := scan.NewInput(r)
	if told, ok := logs.ReadTold(in); ok {
		return told, true, in.Failure()
	}
	return pcap.SectionsTold(in)
}

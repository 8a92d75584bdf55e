package capture

import (
	"io"

	"wirebench/codec/logs"
	"wirebench/codec/pcap"
	"wirebench/codec/scan"
)

// ReadTold reads what an export of Wirebench told of a capture and of its frames: those with a mark or a note, by the numbers that frames
// have when the file is read. It is a pcapng, JSON Lines, or a table. ok is false if the file is none, which is seen at its start. The error is that of r.
func ReadTold(r io.Reader) (out pcap.CaptureTold, ok bool, err error) {
	in := scan.NewInput(r)
	if told, ok := logs.ReadTold(in); ok {
		return told, true, in.Failure()
	}
	return pcap.SectionsTold(in)
}

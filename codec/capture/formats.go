package capture

import (
	"cmp"
	"strings"

	"wirebench/codec/logs"
	"wirebench/codec/pcap"
	"wirebench/codec/scan"
)

// FormatTitle returns the title of a Summary.Format for people: "" for a capture file, the usual case.
func FormatTitle(format string) string {
	id, packed := scan.CutPacked(format)
	title := map[string]string{
		"tshark-json": "packets of tshark (JSON)", "tshark-ek": "packets of tshark (EK)", "pdml": "packets of Wireshark (PDML)",
		"wireshark-text": "packets printed by Wireshark with their bytes",
	}[id]
	if title == "" {
		title = logs.Title(id)
	}
	if title != "" && packed {
		title += ", packed"
	}
	if inner, in, ok := strings.Cut(format, " in a "); ok {
		return cmp.Or(FormatTitle(inner), inner) + " in a " + in
	}
	return title
}

// IsCapture reports whether a file is a capture, a text in which Wireshark exported packets, or a log of package logs.
func IsCapture(data []byte) bool {
	head := data[:min(len(data), scan.PackedHead)]
	if scan.Packed(head) == "" {
		head = head[:min(len(head), logs.Head)]
	}
	plain := head
	if scan.Packed(head) != "" {
		plain, _ = scan.UnpackHead(head, logs.Head, false)
	}
	return pcap.SniffCapture(plain) != "" || pcap.SniffExport(plain) != "" || logs.Sniff(head, len(data) == len(head)) != ""
}

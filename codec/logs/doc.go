// Package logs reads the logs of other programs. Sniff detects their form from the first bytes of a file, never from its name.
//
// Logs hold complete messages, which become frames without a transport (except for the TCP and UDP of mitmproxy). Each reader's file starts
// with the assumptions it makes where a format is not documented.
//
//		kloct                Kloct packet-logger (.bin)
//		tera-connection-log  TeraConnectionLog (Shinra, CasualMeter, DamageMeter)
//		alkahest             Alkahest (.pkt)
//		teraatlas            TeraAtlas (packets_<ms>.log); the log of tera-mods/debug is pasted text, as Follow Stream is
//		mapleshark           MapleShark and MapleShark2 (.msb), all versions
//		wow-pkt              World of Warcraft (.pkt), versions 2.1, 2.2, 3.0 and 3.1
//		mitmproxy            flows of mitmproxy: TCP, UDP, websockets
//		har                  HAR of a browser: websockets
//		wirebench-jsonl      JSON Lines of frames --json and of an export
//		hook-jsonl           JSON Lines of a hook in a program that has plain messages: "dir", "hex", and what else it knows
//		wirebench-table      CSV and TSV of an export
//
//	  - A frame has the header that its definition expects, even if the log omits it (Frame.Offset is Unknown then). Only frames of
//	    MapleShark and World of Warcraft have none: their code is only in the key.
//	  - Frame.Name is the name of the message in the log, if any. It does not matter if the code is known.
//	  - A message that the proxy made has the note "sent by the proxy", and Frame.Marks has Fake.
//	  - A record without bytes, or with invalid bytes, is a Problem. If the rest of a log is unreadable, Summary.Torn has the reason.
//
// # How to add a log
//
// A form of log is a row of the table in logs.go, with two functions, in a file of its own that starts with a description of the format.
//
//  1. sniff detects the form from the first bytes of a file; rows with the most distinctive signatures are first.
//  2. read consumes reading.in. For each record it calls record, then give with the message, or problem with a reason; it stops when they
//     return false. on sets the connection. torn reports why the rest is unreadable.
//  3. Add a small log to the cases of TestReadLogs, and a fuzz target that calls fuzzLog: both check the bounds.
//
// TestAddLog is an example.
package logs

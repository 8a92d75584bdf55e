// Package logs reads the logs of other programs. Forms lists the forms; Sniff recognises one by the first bytes of a file, never by its name.
//
// Logs hold whole messages, which become frames without a transport (except for the TCP and UDP of mitmproxy). What a format leaves open, and how
// it was decided, is at the top of its reader's file.
//
//		kloct                Kloct packet-logger (.bin)
//		tera-connection-log  TeraConnectionLog (Shinra, CasualMeter, DamageMeter)
//		alkahest             Alkahest (.pkt)
//		teraatlas            TeraAtlas (packets_<ms>.log); the log of tera-mods/debug is pasted text, as Follow Stream is
//		mapleshark           MapleShark (.msb), all versions
//		wow-pkt              World of Warcraft (.pkt), versions 2.1, 2.2, 3.0 and 3.1
//		mitmproxy            flows of mitmproxy: TCP, UDP, websockets
//		har                  HAR of a browser: websockets
//		wirebench-jsonl      JSON Lines of frames --json and of an export
//		wirebench-table      CSV and TSV of an export
//
//	  - A frame has the header that its definition expects, even where the log leaves it away (Frame.Offset is Unknown then). Only those of
//	    MapleShark and World of Warcraft have none: the code is in the key alone.
//	  - Frame.Name is what the log calls a message, if it does. It is of no weight where the code is known.
//	  - A message that the proxy made has the note "sent by the proxy", and Frame.Marks has Fake.
//	  - A record without bytes, or with bytes that cannot be right, is a Problem. Where a log cannot be read on, Summary.Torn says why.
//
// # How to add a log
//
// A form of log is a row of the table in logs.go, with two functions, in a file of its own that starts with what is known of the format.
//
//  1. sniff tells the form by the first bytes of a file; rows with the clearest marks come first.
//  2. read goes over reading.in. For each record it calls record, then give with the message, or problem with what is wrong; it ends when they
//     return false. on chooses the connection. torn says why the rest cannot be read.
//  3. Add a small log to the cases of TestReadLogs, and a fuzz target that calls fuzzLog: both check the bounds.
//
// TestAddLog does this, and nothing else.
package logs

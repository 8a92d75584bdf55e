// Package captures opens stored captures: it reads their files into logs of frames, which stay in memory while a page lists them.
//
// A [Set] holds the open captures. [Set.Get] opens one; its file is read in the background, and its frames can be listed meanwhile.
// [Set.Follow] opens a capture to which another program appends, and its log grows with the file. The log of running traffic is an open
// capture, too ([Set.Live]), until the traffic ends.
//
// The frames of a capture depend on how its bytes are split: by definitions, keys and framing. Each combination is a reading of its own,
// and marks and notes are shown with the frame numbers of the current reading (see [Capture.Numbered]).
package captures

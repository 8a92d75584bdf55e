// Package captures opens stored captures: it reads their files into logs of frames, which are kept in memory for as long as somebody lists them.
//
// A [Set] has the captures that are open. [Set.Get] opens one; its file is read in the background, and its frames can be listed meanwhile.
// [Set.Follow] opens one that grows, as another program goes on with it, and its log grows with the file. The log of running traffic is a
// capture, too ([Set.Live]), until its traffic ends.
//
// The frames of a capture depend on how its bytes are cut: by definitions, keys and framing. Each way is a reading of its own, and what people
// noted of frames is said by the numbers of the reading that somebody looks at (see [Numbering]).
package captures

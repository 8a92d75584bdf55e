package subspace

// Place is the position of a field in a core packet. Size 0: up to the end of the packet.
type Place struct {
	Code     uint32
	Path     string // as in defs/library/subspace/core.def
	Off, Len int    // bytes
}

// Places lists all fields of core packets that the code reads.
var Places = []Place{
	{coreInit, "client_key", keyAt, 4},
	{coreInit, "version", versionAt, initSize - versionAt},
	{coreKey, "server_key", keyAt, keySize - keyAt},
	{coreReliable, "sequence", sequenceAt, reliableHeader - sequenceAt},
	{coreReliable, "payload", reliableHeader, 0},
	{coreAck, "sequence", sequenceAt, ackSize - sequenceAt},
	{coreSync, "time", timeAt, oldSyncSize - timeAt},
	{coreSync, "packets_sent", sentAt, receivedAt - sentAt},
	{coreSync, "packets_received", receivedAt, syncSize - receivedAt},
	{coreSyncAnswer, "request_time", timeAt, answerTimeAt - timeAt},
	{coreSyncAnswer, "time", answerTimeAt, syncAnswerSize - answerTimeAt},
	{coreChunk, "payload", chunkHeader, 0},
	{coreChunkTail, "payload", chunkHeader, 0},
	{coreStream, "total", totalAt, streamHeader - totalAt},
	{coreStream, "payload", streamHeader, 0},
	{coreOffer, "first_key", keyAt, 4},
	{coreOffer, "second_key", keyAt + 4, 4},
	{coreOffer, "unknown", oldOfferSize, offerSize - oldOfferSize},
	{coreAccept, "first_key", keyAt, 4},
	{coreAccept, "version", versionAt, acceptSize - versionAt},
	{coreExpand, "seed", keyAt, expandSize - keyAt},
	{coreExpanded, "seed", keyAt, expandSize - keyAt},
	{coreExpanded, "key", expandSize, expandedSize - expandSize},
}

// Sizes holds the minimum and maximum sizes of core packets; -1: unlimited.
var Sizes = map[uint32][2]int64{
	coreInit: {initSize, initSize}, coreKey: {keySize, keySize}, coreReliable: {reliableHeader, -1}, coreAck: {ackSize, ackSize},
	coreSync: {oldSyncSize, syncSize}, coreSyncAnswer: {syncAnswerSize, syncAnswerSize}, coreDisconnect: {disconnectSize, disconnectSize},
	coreChunk: {chunkHeader, -1}, coreChunkTail: {chunkHeader, -1}, coreStream: {streamHeader, -1}, coreCancel: {cancelSize, cancelSize},
	coreCancelAck: {cancelSize, cancelSize}, coreNothing: {coreHeader, -1}, coreCluster: {clusterHeader, -1},
	coreOffer: {oldOfferSize, offerSize}, coreAccept: {acceptSize, acceptSize}, coreExpand: {expandSize, -1},
	coreExpanded: {expandedSize, expandedSize},
}

// Named holds the names of datagrams without a code, by group.
var Named = map[string][]string{"info": {"ping", "pong", "summary_request", "summary"}, "directory": {"zone_announcement"}}

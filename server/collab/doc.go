// Package collab is the authority of texts that several people edit at once. It is pure: it knows texts, changes and clients, and neither
// files nor connections.
//
// The protocol is that of @codemirror/collab. A text has a version, the number of updates since its beginning. A client makes changes at
// once on its own copy, and sends those that are not confirmed with the version they are based on. The authority maps them over what others
// have sent since, accepts them in the order of their arrival, and gives every client all updates of the versions it does not have. A client
// that finds its own updates among them takes them as confirmed; so neither a lost nor a repeated message loses or doubles a change.
//
// Other than the servers of CodeMirror's examples, the authority accepts changes for an older version, so that a slow connection is not
// always late; a client takes updates one by one while changes of its own are not confirmed.
//
// Positions are UTF-16 code units, as in browsers.
package collab

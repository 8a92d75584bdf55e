// Package history keeps what people have done to the files of a project: the revisions of each definition, and the steps that changed several
// files at once and can be undone. It writes to the folder of the project, and to the folder of the definitions when it does a step.
//
//   - history/FILE.jsonl has the revisions of a definition, a JSON line each: what has changed, and now and then the whole text; or a name that
//     a person has given to a revision. A text that no person wrote, as far as the history knows, is the base of what follows.
//   - changes.json lists the steps, and changes/ID.tar.gz has the texts of a step before and after it.
//
// A save is one revision, of the person who saved: no text of two saves, and none of another program, is in one revision. Only a text that is
// saved as the same people type goes on until they pause. Before a text is replaced it is in the history or in a step: [History.Base] and
// [History.Do] return when it is on disk. The revision itself is written by [History.Write], before the save is confirmed.
//
// A step is marked in the journal while it is being done. [History.Finish] completes what is marked at the next start: files with the texts
// before get those after, other texts stay. What is done twice is there once: a file has one text, a history that was moved is not moved again,
// and a revision is left out if the history ends with its text.
//
// Locks, in this order: that of the workspace, under which files of the definitions change; files, the files of the history; mu, what is not
// written yet, which is held for a moment and never while a file is read or written.
package history

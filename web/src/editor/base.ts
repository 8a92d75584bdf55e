// Modules of the editor for other scripts: a page has one copy of the library.

export {
  acceptCompletion, autocompletion, closeCompletion, type Completion, type CompletionContext, type CompletionResult, completionStatus, currentCompletions, moveCompletionSelection,
  pickedCompletion, selectedCompletionIndex, setSelectedCompletion, startCompletion,
} from "@codemirror/autocomplete";
export { history, historyKeymap, standardKeymap } from "@codemirror/commands";
export { setDiagnostics } from "@codemirror/lint";
export { EditorState, type Extension, Prec, StateEffect, StateField } from "@codemirror/state";
export { type Command, EditorView, keymap, placeholder } from "@codemirror/view";
export { common } from "./theme";
export { tips } from "./tips";
export { typeOver } from "./typeover";

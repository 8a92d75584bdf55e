// Typing over a selection. Browsers keep the looks of what is replaced, such as the underline of a mistake, in an inline style, which the
// pages forbid: the editor replaces the text by itself.

import { EditorView } from "@codemirror/view";

export const typeOver = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { inputType, data, isComposing } = event;
    if (inputType !== "insertText" || data === null || isComposing || view.state.readOnly || view.state.selection.ranges.every((r) => r.empty)) {
      return false;
    }
    view.dispatch(view.state.replaceSelection(data), { userEvent: "input.type", scrollIntoView: true });
    return true;
  },
});

// Typing over a selection. Browsers keep the style of the replaced text, such as the underline of a mistake, as an inline style, which the
// content security policy forbids: the editor replaces the text itself.

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

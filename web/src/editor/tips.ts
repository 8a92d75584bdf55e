// Tooltips of editors stand at the end of the page: panes cut off what sticks out of them.

import { type Extension } from "@codemirror/state";
import { EditorView, tooltips } from "@codemirror/view";

let element: HTMLElement | undefined;

/** The extension that puts an editor's tooltips there. */
export function tips(): Extension {
  const host = (element ??= Object.assign(document.createElement("div"), { className: "editor-tips" }));
  const attach = (): void => {
    if (!host.isConnected) {
      document.body.append(host);
    }
  };
  attach();
  return [tooltips({ parent: host }), EditorView.updateListener.of(attach)];
}

// Tooltips of editors are at the end of the main part of the page, because panes clip their contents.

import { type Extension } from "@codemirror/state";
import { EditorView, tooltips } from "@codemirror/view";

let element: HTMLElement | undefined;

/** The extension that moves an editor's tooltips there. */
export function tips(): Extension {
  const host = (element ??= Object.assign(document.createElement("div"), { className: "editor-tips" }));
  const attach = (): void => {
    if (!host.isConnected) {
      (document.querySelector("main") ?? document.body).append(host);
    }
  };
  attach();
  return [tooltips({ parent: host }), EditorView.updateListener.of(attach)];
}

// The style of the editor, from the tokens of app.css, which has dark and light colors.

import { type Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";

// The library draws underlines and marks as data: images, which the content security policy forbids; all of them are replaced here.
const squiggle = (color: string): Record<string, string> => ({
  backgroundImage: "none",
  textDecoration: `underline wavy ${color} 1px`,
  textDecorationSkipInk: "none",
  textUnderlineOffset: "3px",
});

const button = {
  font: "inherit",
  color: "var(--text)",
  background: "var(--panel2)",
  border: "1px solid var(--edge)",
  borderRadius: "var(--radius)",
  padding: "0.15rem 0.6rem",
  margin: "0 0.3rem 0 0",
  cursor: "pointer",
};

// The background of a linked line is below the selection, so that selected text shows on it.
const ground = (color: string): Record<string, string> => ({
  content: '""',
  position: "absolute",
  inset: "0",
  zIndex: "-3",
  background: color,
});

const sign = { position: "absolute", left: "5px", fontSize: "0.8rem", lineHeight: "2.1", fontWeight: "700" };

const active = "color-mix(in srgb, var(--text) 6%, transparent)";

/**
 * Puts the caret of an editor that gets the focus by a script, as after the palette or a dialog, back to its place: the browser moves it to the
 * start, and the editor would follow.
 */
const keepCaret: Extension = EditorView.domEventHandlers({
  focus: (_, view) => {
    view.focus();
    return false;
  },
});

/** Mistakes and lists of completions, common to all editors. */
export const common: Extension = [keepCaret, EditorView.theme({
  "&.cm-focused": { outline: "none" },
  ".cm-lintRange-error": squiggle("var(--bad)"),
  ".cm-lintRange-warning": squiggle("var(--warn)"),
  ".cm-lintRange-active": { backgroundColor: "color-mix(in srgb, var(--warn) 22%, transparent)" },
  ".cm-lintPoint-error::after": { borderBottomColor: "var(--bad)" },
  ".cm-lintPoint-warning::after": { borderBottomColor: "var(--warn)" },
  ".cm-diagnostic": { padding: "0.3rem 0.7rem", margin: "0", whiteSpace: "pre-line", overflowWrap: "anywhere" },
  ".cm-diagnostic-error": { borderLeft: "3px solid var(--bad)" },
  ".cm-diagnostic-warning": { borderLeft: "3px solid var(--warn)" },
  ".cm-diagnosticAction": { ...button, display: "block", margin: "0.3rem 0 0.1rem" },

  ".cm-tooltip": {
    maxWidth: "min(34rem, 90vw)",
    font: "1rem/1.45 var(--ui)",
    color: "var(--text)",
    backgroundColor: "var(--panel)",
    border: "1px solid var(--edge)",
    borderRadius: "var(--radius)",
    boxShadow: "0 4px 16px rgb(0 0 0 / 25%)",
    zIndex: "5",
  },
  ".cm-tooltip-section:not(:first-child)": { borderTop: "1px solid var(--line)" },
  ".cm-tooltip.cm-tooltip-autocomplete": { overflow: "visible" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { font: "1rem/1.5 var(--mono)", maxHeight: "14rem" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { display: "flex", gap: "1.5rem", padding: "0.1rem 0.7rem" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": { color: "var(--text)", background: "var(--sel)" },
  ".cm-completionLabel": { flex: "none", maxWidth: "60%", overflow: "hidden", textOverflow: "ellipsis" },
  ".cm-completionDetail": { minWidth: "0", marginLeft: "auto", overflow: "hidden", textOverflow: "ellipsis", color: "var(--dim)", font: "0.92rem/1.63 var(--ui)" },
  ".cm-completionMatchedText": { color: "var(--type)", textDecoration: "none", fontWeight: "600" },
  ".cm-tooltip.cm-completionInfo": { padding: "0", maxWidth: "22rem" },
})];

/** The style of the definition editor. */
export const theme: Extension = [common, EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--panel)" },
  "&:has(.cm-content:focus-visible)::after": {
    content: '""',
    position: "absolute",
    inset: "0",
    zIndex: "201", // above the line numbers
    border: "2px solid var(--accent)",
    pointerEvents: "none",
  },
  ".cm-scroller": { font: "1rem/1.69 var(--mono)", overflow: "auto", alignItems: "stretch" },
  ".cm-content": { padding: "8px 0", caretColor: "var(--text)", tabSize: "4" },
  ".cm-line": { position: "relative", padding: "0 var(--pad) 0 0" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--text)", borderLeftWidth: "2px", marginLeft: "-1px" },
  "& > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": {
    background: "color-mix(in srgb, var(--accent) 26%, transparent)",
  },
  ".cm-line::selection, .cm-line ::selection": { color: "currentcolor !important" }, // the editor draws the background, also of further selections
  ".cm-mark": { color: "var(--dim)", fontStyle: "italic" },
  ".cm-number": { color: "var(--dim)" },

  ".cm-gutters": { color: "var(--faint)", backgroundColor: "var(--panel)", border: "none" },
  ".cm-lineNumbers .cm-gutterElement": { position: "relative", minWidth: "3.4rem", padding: "0 0.9rem 0 0.4rem" },
  ".line-thread-gap": { paddingLeft: "0.8rem" },
  ".line-thread": {
    font: "inherit", fontSize: "0.86rem", lineHeight: "1.3", margin: "0", padding: "0 0.45rem", color: "var(--text)", verticalAlign: "baseline",
    background: "color-mix(in srgb, var(--warn) 18%, transparent)", border: "1px solid color-mix(in srgb, var(--warn) 45%, transparent)", borderRadius: "0.6rem 0.6rem 0.6rem 0", cursor: "pointer",
  },
  ".cm-gutters-after": { paddingLeft: "0.4rem" },
  ".cm-scores .cm-gutterElement": { padding: "0 0.7rem 0 0", textAlign: "right" },
  ".line-score": { fontSize: "0.86rem" },
  ".line-score.bad": { color: "var(--bad)", cursor: "pointer" },
  "@media (width < 700px)": { ".cm-scores": { display: "none !important" } },
  ".cm-activeLineGutter": { color: "var(--text)", backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLineGutter": { backgroundColor: active },
  ".cm-activeLine": { backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLine::before": ground(active),
  ".cm-lineNumbers .cm-error-line": { color: "var(--bad)", boxShadow: "inset 3px 0 var(--bad)" },
  ".cm-lineNumbers .cm-warning-line": { color: "var(--warn)", boxShadow: "inset 3px 0 var(--warn)" },
  ".cm-lineNumbers .cm-error-line::before": { ...sign, content: '"✕"' },
  ".cm-lineNumbers .cm-warning-line::before": { ...sign, content: '"!"' },

  ".cm-line:is(.cm-lit, .cm-picked)::before, &.cm-focused .cm-line:is(.cm-lit, .cm-picked)::before": ground("var(--sel)"),
  ".cm-lineNumbers .cm-linked, &.cm-focused .cm-lineNumbers .cm-linked": { backgroundColor: "var(--sel)" },
  ".cm-lineNumbers .cm-picked-number:not(.cm-error-line, .cm-warning-line)": { boxShadow: "inset 3px 0 var(--accent)" },
  ".cm-lineNumbers .cm-linked:not(.cm-error-line, .cm-warning-line)": { color: "var(--dim)" },
  ".cm-lit :is(.cm, .dash), .cm-picked :is(.cm, .dash)": { color: "var(--dim)" }, // faint text has too little contrast on the selection

  ".cm-diagnosticAction:hover, .cm-button:hover": { background: "var(--sel)" },

  ".cm-explained": { display: "flex", flexWrap: "wrap", gap: "0 0.8rem", padding: "0.35rem 0.7rem" },
  ".cm-explained .ty": { fontFamily: "var(--mono)" },
  ".cm-explained .cm-size": { color: "var(--dim)" },
  ".cm-explained .cm-doc": { flexBasis: "100%" },
  ".cm-explained > :empty": { display: "none" },

  ".cm-panels": { color: "var(--text)", backgroundColor: "var(--panel2)", zIndex: "3" },
  ".cm-panels-top": { borderBottom: "1px solid var(--line)" },
  ".cm-panels-bottom": { borderTop: "1px solid var(--line)" },
  ".cm-hidden-lines": {
    display: "block", width: "100%", padding: "0.2rem var(--pad)", border: "0", background: "var(--panel2)", color: "var(--dim)", font: "inherit", textAlign: "left", cursor: "pointer",
  },
  ".cm-hidden-lines:hover, .cm-hidden-lines:focus-visible": { color: "var(--text)", textDecoration: "underline" },
  ".cm-locked": { padding: "0.3rem var(--pad)", color: "var(--warn)" },
  ".cm-panel.cm-search": { display: "flex", flexWrap: "wrap", alignItems: "center", gap: "0.3rem 0.4rem", padding: "0.4rem 2.4rem 0.4rem var(--pad)" },
  ".cm-panel.cm-search br": { flexBasis: "100%", content: '""' },
  ".cm-panel.cm-search label": { display: "inline-flex", alignItems: "center", gap: "0.3rem", margin: "0", color: "var(--dim)", fontSize: "0.92rem" },
  ".cm-panel.cm-search [name=close]": { top: "0.4rem", right: "0.5rem", width: "1.8rem", height: "1.8rem", color: "var(--dim)", cursor: "pointer" },
  ".cm-button": { ...button, margin: "0", backgroundImage: "none" },
  ".cm-textfield": { font: "1rem var(--mono)", color: "var(--text)", background: "var(--panel)", border: "1px solid var(--edge)", borderRadius: "var(--radius)", padding: "0.2rem 0.5rem", margin: "0" },
  ".cm-searchMatch": { backgroundColor: "color-mix(in srgb, var(--warn) 25%, transparent)", outline: "none" },
  ".cm-searchMatch.cm-searchMatch-selected": { backgroundColor: "color-mix(in srgb, var(--warn) 45%, transparent)" },
  ".cm-selectionMatch": { backgroundColor: "color-mix(in srgb, var(--accent) 16%, transparent)" },
  ".cm-panel.cm-panel-lint ul": { maxHeight: "9rem", outlineOffset: "-2px" },
  ".cm-panel.cm-panel-lint ul [aria-selected]": { background: "transparent" },
  ".cm-panel.cm-panel-lint ul:focus [aria-selected]": { color: "var(--text)", background: "var(--sel)" },
  ".cm-panel.cm-panel-lint ul u": { textDecoration: "underline" },
  ".cm-panel.cm-panel-lint [name=close]": { top: "0.2rem", right: "0.5rem", width: "1.8rem", height: "1.8rem", color: "var(--dim)", cursor: "pointer" },
  ".cm-specialChar": { color: "var(--bad)" },
  "@media (forced-colors: active)": {
    ".cm-lit, .cm-picked": { outline: "2px solid Highlight", outlineOffset: "-2px" },
  },
})];

// The editor of the page.

import type { Controls } from "../../message/socket";
import { closeFirstSteps } from "../../projects/firststeps";
import { DefinitionField } from "../../text/editor/field";
import type { Language } from "../../text/editor/index";
import type { Mistakes } from "../../text/mistakes";
import type { Parts } from "../../text/parts";
import { frameAddress } from "../../text/score";
import type { Together } from "../../text/together";
import type { Actions } from "./actions";
import { field } from "./controls";
import type { Selection } from "./selection";
import type { PageText } from "./text";

/** The page. */
interface EditorHost {
  readonly workspace: string;
  readonly envelope: boolean; // the text is an envelope
  readonly controls: Controls;
  parts(): EditorParts; // called when the user does something
}

interface EditorParts {
  readonly actions: Pick<Actions, "press">;
  readonly mistakes: Pick<Mistakes, "hold">;
  readonly parts: Pick<Parts, "caret" | "follow">;
  readonly selection: Pick<Selection, "links">;
  readonly text: Pick<PageText, "place" | "received" | "save" | "typed">;
  readonly together: Pick<Together, "apart" | "stopFollowing">;
}

/** Makes the editor in the place of the text field. */
export function makeEditor({ dataset }: HTMLElement, host: EditorHost): DefinitionField {
  const code = field<HTMLElement>("code");
  return new DefinitionField(code ?? document.createElement("div"), field<HTMLTextAreaElement>("definition") ?? document.createElement("textarea"), {
    text: host.controls.definition,
    language: JSON.parse(code?.dataset["language"] ?? '{"comment":"#","words":[]}') as Language,
    nonce: dataset["nonce"] ?? "",
    label: host.envelope ? "Envelope text" : "Definition text",
    of: () => placeOf(host.workspace, host.parts()),
    events: {
      change: (now, line) => {
        const { mistakes, together, text } = host.parts();
        if (line > 0) {
          closeFirstSteps();
          mistakes.hold.typed(line);
          together.stopFollowing();
        }
        text.typed(now);
      },
      remote: (now) => host.parts().text.received(now),
      left: () => host.parts().mistakes.hold.end(),
      caret: (line) => {
        const { mistakes, selection: { links }, parts } = host.parts();
        mistakes.hold.left(line);
        links.pick(links.ofLine(line));
        parts.caret = line;
        parts.follow();
      },
      place: (line, column) => field("caret")?.replaceChildren(...(line === 0 ? [] : [`Ln ${line}, Col ${column}`])),
      hover: (line) => {
        const { links } = host.parts().selection;
        links.point(line === null ? null : links.ofLine(line));
      },
      defect: ({ first }) => first !== undefined && open(frameAddress(host.workspace, first.capture, first.frame), "_self"),
      save: () => void host.parts().text.save(),
      decode: () => host.parts().actions.press("decode"),
      format: () => host.parts().actions.press("format"),
    },
  });
}

/** The name of the text in this browser, "" for none. */
function placeOf(workspace: string, { text, together }: EditorParts): string {
  const { file } = text.place;
  return file === "" ? "" : `${workspace}/${file}${together.apart ? " apart" : ""}`;
}

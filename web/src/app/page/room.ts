// The room of the open definition, for the page.

import type { Connection } from "../../kit/connection";
import type { Controls } from "../../message/socket";
import type { DefinitionField } from "../../text/editor/field";
import { Together } from "../../text/together";
import type { FrameHost } from "./frames";
import type { Linked } from "./linked";
import type { Opening } from "./opening";
import type { Selection } from "./selection";
import type { PageText } from "./text";

/** The page. */
interface RoomHost {
  readonly workspace: string;
  readonly capture: string | undefined; // whose frames are the messages
  readonly connected: Connection;
  readonly controls: Controls;
  readonly editor: DefinitionField;
  parts(): RoomParts; // called when the server has said something
}

interface RoomParts {
  readonly frames: Pick<FrameHost, "go"> | undefined; // the list of frames
  readonly linked: Pick<Linked, "beside">;
  readonly opening: Pick<Opening, "giveCode" | "go" | "named">;
  readonly selection: Pick<Selection, "setPeers">;
  readonly text: Pick<PageText, "beginSuggestion" | "discard" | "endSuggestion" | "recall" | "rewrite" | "shared" | "showApart">;
  readonly markPeople: (() => void) | undefined; // in the list of messages
}

/** Joins the room of the open definition, and those of the ones that are opened later. */
export function makeTogether(host: RoomHost): Together {
  const { connected: connection, workspace, editor, controls } = host;
  return new Together({
    connection, workspace, editor,
    text: () => editor.text,
    message: () => controls.message,
    revision: () => controls.base,
    rewrite: (of, text) => host.parts().text.rewrite(of, text),
    confirmed: (text) => host.parts().text.recall(text),
    showApart: (own, revision) => host.parts().text.showApart(own, revision),
    named: (name) => host.parts().opening.named(name),
    saved: () => void host.parts().opening.giveCode(),
    discard: () => void host.parts().text.discard(),
    beginSuggestion: () => void host.parts().text.beginSuggestion(),
    endSuggestion: () => host.parts().text.endSuggestion(),
    beside: (why, text) => host.parts().linked.beside(why, text),
    changed: (file, isAway = false) => host.parts().text.shared(file, isAway),
    joined: () => host.parts().markPeople?.(),
    go: (message) => void host.parts().opening.go(message, 0),
    goFrame: ({ capture, frame }) => {
      const { frames } = host.parts();
      if (capture !== host.capture || frames === undefined) {
        return false;
      }
      frames.go(frame);
      return true;
    },
    peers: (colors) => host.parts().selection.setPeers(colors),
  });
}

import type { PageMessage } from "./api";
import type { Channel, ChannelEvents, Connection } from "./connection";
import { type Answer, type Controls, Socket } from "./socket";
import { equal, test } from "./testing";

const long = "uint32 field\n".repeat(50);

test("socket: what the server does not have is sent again, whole, with its action and what was typed since", () => {
  const controls: Controls = {
    message: "A.1", name: "", definition: long, base: "", shared: false, input: "", form: "", bycode: false, value: "", made: "", code: "", show: 0, edits: {}, values: false, score: true,
  };
  const sent: PageMessage[] = [];
  let events: ChannelEvents | undefined;
  const channel: Channel = { isOpen: true, send: (m) => sent.push(structuredClone(m) as PageMessage), close: () => {} };
  const connection = {
    channel: (_kind: string, _asked: object | undefined, of: ChannelEvents) => {
      events = of;
      return channel;
    },
  } as unknown as Connection;
  const tell = (answer: Answer): void => events?.message(answer as never);
  (globalThis as { document?: unknown }).document ??= { getElementById: () => null };
  const socket = new Socket(connection, undefined, () => ({ ...controls }), () => {}, () => {}, () => {});
  events?.open();
  tell({ n: 1 });
  equal(sent[0]?.set.definition, long);

  controls.definition = `${long}a`;
  socket.set({ definition: controls.definition, name: "NEW.1" });
  const saved: Answer[] = [];
  void socket.act({ action: "save" }).then((answer) => saved.push(answer));
  void socket.act({ action: "format" });
  equal(sent.slice(1).map(({ n, set, edit, action }) => [n, set.definition, set.name, edit?.length, action]), [
    [2, undefined, "NEW.1", 1, "save"], [3, undefined, undefined, undefined, "format"],
  ]);
  controls.definition = `${long}ab`;
  socket.set({ definition: controls.definition });

  tell({ n: 2, resend: true });
  tell({ n: 3, resend: true });
  equal(sent.slice(3).map(({ n, set, edit, action }) => [n, set.definition, set.name, set.input, edit, action]), [
    [4, `${long}ab`, "NEW.1", "", undefined, "save"],
    [5, `${long}ab`, "", "", undefined, "format"],
  ]);
});

import type { PageMessage } from "../api/api";
import type { Channel, ChannelEvents, Connection } from "../kit/connection";
import { type Answer, type Controls, Socket } from "./socket";
import { equal, test } from "../kit/testing";

const long = "uint32 field\n".repeat(50);

test("socket: what the server does not have is sent again, whole, with its action and what was typed since", () => {
  const controls: Controls = {
    message: "A.1", name: "", definition: long, base: "", shared: "", input: "", form: "", dir: "", bycode: false, value: "", made: "", code: "", show: 0, edits: {}, values: false, score: true,
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
  (globalThis as { document?: unknown }).document ??= { getElementById: () => null, documentElement: { classList: { toggle: () => {} } } };
  const socket = new Socket(connection, { client: "", text: () => controls.definition, waits: () => false, knows: () => true }, () => ({ ...controls }), () => {}, () => {}, () => {});
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

test("socket: what is shown is about earlier texts if the connection is lost before an answer", () => {
  const controls = { message: "A.1", definition: long, input: "", form: "", dir: "", bycode: false, edits: {}, values: false } as unknown as Controls;
  let events: ChannelEvents | undefined;
  const connection = {
    channel: (_kind: string, _asked: object | undefined, of: ChannelEvents) => {
      events = of;
      return { isOpen: true, send: () => {}, close: () => {} };
    },
  } as unknown as Connection;
  (globalThis as { document?: unknown }).document ??= { getElementById: () => null, documentElement: { classList: { toggle: () => {} } } };
  const changes: Partial<Controls>[] = [{ definition: `${long}a` }, { input: "00" }, { edits: { 0: "00" } }, { form: "hex" }, { bycode: true }];
  for (const change of [...changes, { values: true }]) {
    for (const when of ["unsent", "unanswered", "answered", "later"]) {
      let waits = false; // in the room of the text
      const socket = new Socket(connection, { client: "", text: () => controls.definition, waits: () => waits, knows: () => true }, () => ({ ...controls }), () => {}, () => {}, () => {});
      events?.open();
      events?.message({ n: 1 } as never);
      if (when === "unanswered" || when === "answered") {
        socket.set(change);
        void socket.act({ action: "format" }); // sends it at once
        if (when === "answered") {
          events?.message({ n: 2 } as never);
        }
        events?.lost("");
      } else {
        events?.lost("");
        equal([change, when, socket.isBehind], [change, when, false]);
        if (when === "later") {
          socket.later(change, 0);
        } else {
          socket.set(change);
        }
      }
      equal([change, when, socket.isBehind], [change, when, when !== "answered" && changes.includes(change)]);
      waits = true;
      equal([change, when, socket.isBehind], [change, when, true]);
      events?.open();
      equal([change, when, socket.isBehind], [change, when, false]);
    }
  }
});

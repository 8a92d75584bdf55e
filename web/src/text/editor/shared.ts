// A text that others edit at the same time: the copy of the text in the editor, and the people in it. The server orders the changes; see
// server/rooms and server/collab.

import { collab, getSyncedVersion, receiveUpdates, sendableUpdates } from "@codemirror/collab";
import { ChangeSet, type Extension, type Range, RangeSet, StateEffect, StateField, type Text, type Transaction } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, type ViewUpdate, WidgetType } from "@codemirror/view";

import type { CollabUpdate, RoomsSeen } from "../../api/api";

/** The text as the server has it. */
export interface SharedStart {
  text: string;
  version: number;
  client: string; // identifies this copy
  keep?(): boolean; // asked before the editor takes the text: what the editor has is made of that text: the differences are changes that the server does not have
}

/** What goes to the server. */
export interface SharedEvents {
  push(version: number, changes: unknown[]): void;
  at(version: number, anchor: number, head: number): void;
}

const mostPushed = 500; // changes at once
const pointPause = 100; // milliseconds between two messages about the selection

const setPeople = StateEffect.define<DecorationSet>();

/** The carets and selections of the others. */
const people = StateField.define<DecorationSet>({
  create: () => RangeSet.empty,
  update(set, transaction) {
    for (const effect of transaction.effects) {
      if (effect.is(setPeople)) {
        return effect.value;
      }
    }
    return set.map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

class Caret extends WidgetType {
  readonly of: RoomsSeen;

  constructor(of: RoomsSeen) {
    super();
    this.of = of;
  }

  override eq(other: Caret): boolean {
    return other.of.id === this.of.id && other.of.name === this.of.name && other.of.color === this.of.color && other.of.head === this.of.head; // the name shows again after a move
  }

  toDOM(): HTMLElement {
    const caret = document.createElement("span");
    caret.className = `peer-caret peer-${this.of.color}`;
    caret.setAttribute("aria-hidden", "true");
    const name = document.createElement("span");
    name.className = "peer-name";
    name.textContent = this.of.name;
    caret.append(name);
    return caret;
  }

  override ignoreEvent(): boolean {
    return true;
  }
}

/** The shared text of the editor. It is valid until the editor opens another one. */
export class Shared {
  private readonly view: EditorView;
  private readonly events: SharedEvents;
  private readonly client: string;
  private confirmed: Text; // the text of the server's version
  private pushed = 0; // changes on their way
  private receiving = false; // some of the updates that have come are not in the editor yet
  private pointed: { anchor: number; head: number } | undefined; // the selection that others see: the one that was sent, moved along with the text
  private timer: ReturnType<typeof setTimeout> | undefined;
  private others: readonly RoomsSeen[] = [];
  private ended = false;
  before = ""; // the text of the editor before that of the room
  private last: number; // version at the end

  /** The editor has the text of start already. */
  constructor(view: EditorView, start: SharedStart, events: SharedEvents) {
    this.view = view;
    this.events = events;
    this.client = start.client;
    this.confirmed = view.state.doc;
    this.last = start.version;
  }

  extension(version: number): Extension {
    return [collab({ startVersion: version, clientID: this.client }), people, EditorView.updateListener.of((update) => this.updated(update))];
  }

  get version(): number {
    return this.ended ? this.last : getSyncedVersion(this.view.state);
  }

  /** The number of changes that are not confirmed. */
  get pending(): number {
    return this.ended ? 0 : sendableUpdates(this.view.state).length;
  }

  /** Those changes. */
  get changes(): unknown[] {
    return this.ended ? [] : sendableUpdates(this.view.state).map(({ changes }) => changes.toJSON() as unknown);
  }

  /** The text without the changes that are not confirmed. */
  get base(): string {
    return this.confirmed.toString();
  }

  private updated(update: ViewUpdate): void {
    if (update.docChanged) {
      if (this.pointed !== undefined) {
        this.pointed = { anchor: update.changes.mapPos(this.pointed.anchor, 1), head: update.changes.mapPos(this.pointed.head, 1) }; // as the server moves it
      }
      this.push();
    }
    if (update.docChanged || update.selectionSet || update.focusChanged) {
      this.point();
    }
  }

  /** Sends the changes that are not on their way. */
  push(): void {
    if (this.pushed > 0 || this.receiving || this.ended) {
      return; // the answer sends the others
    }
    const updates = sendableUpdates(this.view.state).slice(0, mostPushed);
    if (updates.length > 0) {
      this.pushed = updates.length;
      this.events.push(this.version, updates.map(({ changes }) => changes.toJSON() as unknown));
    }
  }

  /** The connection is there again: what was on its way may have been lost. */
  again(): void {
    this.pushed = 0;
    this.pointed = undefined;
    this.push();
    this.point();
  }

  /** Takes the next updates of the server. */
  receive(updates: readonly CollabUpdate[]): void {
    if (this.ended) {
      return;
    }
    const all = updates.map(({ clientID, changes }) => ({ clientID, changes: ChangeSet.fromJSON(changes) }));
    for (const { clientID, changes } of all) {
      this.confirmed = changes.apply(this.confirmed);
      if (clientID === this.client && this.pushed > 0) {
        this.pushed--;
      }
    }
    this.receiving = true; // what is confirmed by a later one of them must not be sent again
    if (sendableUpdates(this.view.state).length === 0) {
      this.dispatch(receiveUpdates(this.view.state, all));
    } else { // one by one, as the server maps them
      for (const one of all) {
        this.dispatch(receiveUpdates(this.view.state, [one]));
      }
    }
    this.receiving = false;
    this.push();
    this.point();
  }

  private dispatch(transaction: Transaction): void {
    this.view.dispatch(transaction);
  }

  /** Sends the selection, at most every pointPause. Others know its place once the changes before it are confirmed. */
  private point(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      if (this.ended || this.pending > 0) {
        return; // receive comes here again
      }
      const { anchor, head } = this.view.state.selection.main;
      if (anchor !== this.pointed?.anchor || head !== this.pointed.head) {
        this.pointed = { anchor, head };
        this.events.at(this.version, anchor, head);
      }
    }, pointPause);
  }

  /** Shows the others. Their places are in the text of the server's version. */
  show(list: readonly RoomsSeen[]): void {
    if (this.ended) {
      return;
    }
    this.others = list;
    const { state } = this.view;
    const later = sendableUpdates(state).map(({ changes }) => changes);
    const place = (at: number): number => Math.min(later.reduce((pos, changes) => changes.mapPos(Math.min(pos, changes.length), 1), Math.max(at, 0)), state.doc.length);
    const marks: Range<Decoration>[] = [];
    for (const one of this.others) {
      if (one.head < 0) {
        continue;
      }
      const anchor = place(one.anchor), head = place(one.head);
      if (anchor !== head) {
        marks.push(Decoration.mark({ class: `peer-selection peer-${one.color}` }).range(Math.min(anchor, head), Math.max(anchor, head)));
      }
      marks.push(Decoration.widget({ widget: new Caret(one), side: 1 }).range(head));
    }
    this.view.dispatch({ effects: setPeople.of(RangeSet.of(marks, true)) });
  }

  /** The line of somebody, from 1; 0 if it is not known. It goes along with changes of the text. */
  lineOf(one: RoomsSeen): number {
    const { state } = this.view;
    for (const at = (state.field(people, false) ?? RangeSet.empty).iter(); at.value !== null; at.next()) {
      const { widget } = at.value.spec as { widget?: unknown };
      if (widget instanceof Caret && widget.of.id === one.id) {
        return state.doc.lineAt(at.from).number;
      }
    }
    return 0;
  }

  /** The editor has another text, or this one alone. */
  end(): void {
    this.last = this.version;
    this.ended = true;
    clearTimeout(this.timer);
  }
}

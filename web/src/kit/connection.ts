// The connection of the page to the server, with channels on it; see server/socket. It reconnects automatically, and then opens its channels
// again.

import { root } from "./address";
import type { SocketDown, SocketUp } from "../api/api";

export interface ChannelEvents {
  /** The channel is open, for the first time or again: the server has no state of earlier connections. */
  open(): void;
  message(message: never): void;
  /** The channel is closed until the next open, for a reason of the server, or "" without a connection. */
  lost(why: string): void;
}

export interface Channel {
  readonly isOpen: boolean;
  /** Sends a message, unless the channel is closed. */
  send(message: object): void;
  /** Closes the channel permanently. */
  close(): void;
}

interface Opened extends Channel {
  id: number; // 0: not open
  tries: number; // consecutive failures to open it
  readonly kind: string;
  readonly asked: object | undefined;
  readonly events: ChannelEvents;
}

/** Milliseconds until the next attempt, randomized so that many pages do not reconnect at once. */
export function pauseAfter(tries: number): number {
  return Math.min(10_000, 250 * 2 ** Math.min(tries, 6)) * (0.75 + Math.random() / 2);
}

/** The address of the socket of a page. */
export function socketOf(workspace: string): string {
  return `${location.protocol === "https:" ? "wss:" : "ws:"}//${location.host}${root()}/ws/${encodeURIComponent(workspace)}/page`;
}

export class Connection {
  tries = 0; // consecutive failures to connect
  opened = false; // ever connected
  private readonly url: string;
  private socket: WebSocket | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly channels = new Set<Opened>();
  private lastID = 0;

  constructor(url: string) {
    this.url = url;
    this.connect();
    addEventListener("online", () => this.again(0));
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") {
        this.again(0);
      }
    });
  }

  /** Opens a channel once connected, and again after reconnecting. `asked` are the parameters of its kind. */
  channel(kind: string, asked: object | undefined, events: ChannelEvents): Channel {
    const channel: Opened = {
      id: 0, tries: 0, kind, asked, events,
      get isOpen() {
        return this.id > 0;
      },
      send: (message) => this.send(channel, { message }),
      close: () => {
        this.channels.delete(channel);
        this.send(channel, { close: true });
        channel.id = 0;
      },
    };
    this.channels.add(channel);
    queueMicrotask(() => this.start(channel)); // the caller has the channel first
    return channel;
  }

  private start(channel: Opened): void {
    if (this.socket?.readyState === WebSocket.OPEN && this.channels.has(channel) && channel.id === 0) {
      channel.id = ++this.lastID;
      this.send(channel, { open: channel.kind, with: channel.asked });
      channel.events.open();
    }
  }

  private send({ id }: Opened, what: Omit<SocketUp, "id">): void {
    if (id > 0 && this.socket?.readyState === WebSocket.OPEN) { // otherwise the channel is about to be lost
      this.socket.send(JSON.stringify({ id, ...what }));
    }
  }

  private connect(): void {
    const socket = new WebSocket(this.url);
    this.socket = socket;
    socket.addEventListener("open", () => {
      this.tries = 0;
      this.opened = true;
      this.channels.forEach((channel) => this.start(channel));
    });
    socket.addEventListener("message", ({ data }) => {
      const { id, message, closed } = JSON.parse(data as string) as SocketDown;
      const channel = [...this.channels].find((c) => c.id === id);
      if (closed === undefined) {
        channel?.events.message(message as never);
      } else if (channel !== undefined) {
        this.lose(channel, closed);
        setTimeout(() => this.start(channel), pauseAfter(++channel.tries));
      }
    });
    socket.addEventListener("close", () => {
      this.socket = undefined;
      this.tries++;
      this.channels.forEach((channel) => this.lose(channel, ""));
      this.again(pauseAfter(this.tries));
    });
  }

  private lose(channel: Opened, why: string): void {
    channel.id = 0;
    channel.events.lost(why);
  }

  /** Tries to connect now. */
  retry(): void {
    this.again(0);
  }

  private again(after: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.socket === undefined) {
        this.connect();
      }
    }, after);
  }
}

// Requests to the HTTP API, and messages about failures.

import { root } from "./address";
import { notify } from "./notify";
import type { Operations, Value } from "../api/operations";

type Route = keyof Operations;

/** A failed request. */
export interface Failure<T> {
  ok: false;
  /** a sentence to show */
  why: string;
  /** no server answered */
  away: boolean;
  /** of HTTP, 0 without a response */
  status: number;
  /** other members of the error response */
  answer: Partial<T>;
}

export type Reply<T> = { ok: true; answer: T } | Failure<T>;

/** What may be sent as a value of a type: its lists may be read-only. */
type Sent<T> = T extends readonly (infer Item)[] ? readonly Sent<Item>[] : T extends object ? { readonly [Key in keyof T]: Sent<T[Key]> } : T;

interface Options<Body> {
  /** JSON, or a file or a form as it is */
  body?: Sent<Body> | Blob | FormData | undefined;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** What has an id in a project: a capture, a listener, a replay. */
export interface At {
  readonly project: string;
  readonly id: string;
}

interface Problem {
  detail?: string;
  errors?: { message?: string; location?: string }[];
}

/** The address of an operation with parameters: those of its path, and the others as its query. */
export function urlOf<Op extends Route>(op: Op, given: Operations[Op]["given"]): string {
  const [, below = ""] = op.split(" ");
  let path = below.startsWith("/") ? below : `/projects/{project}/${below}`;
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given) as [string, Value | undefined][]) {
    const filled = path.replace(`{${name}}`, encodeURIComponent(String(value)));
    if (filled === path && value !== undefined) {
      query.set(name, String(value));
    }
    path = filled;
  }
  return `${root()}/api/v1${path}${query.size === 0 ? "" : `?${query.toString()}`}`;
}

/** The error message of a response, with its first position. */
function whyOf(answer: Problem, status: string): string {
  const first = answer.errors?.[0];
  const where = first?.location ?? "";
  const why = first?.message === undefined ? "" : `: ${where === "" ? "" : `${where}: `}${first.message}`;
  return (answer.detail ?? status) + why;
}

/** Calls an operation. Rejects only when aborted by its signal. */
export async function request<Op extends Route>(op: Op, given: Operations[Op]["given"], { body, headers, signal }: Options<Operations[Op]["body"]> = {}): Promise<Reply<Operations[Op]["answer"]>> {
  const init: RequestInit = { method: op.split(" ", 1).join(""), headers: headers ?? {} };
  if (body instanceof Blob || body instanceof FormData) {
    init.body = body;
  } else if (body !== undefined) {
    init.headers = { ...headers, "Content-Type": "application/json" };
    init.body = JSON.stringify(body);
  }
  try {
    const response = await fetch(urlOf(op, given), signal === undefined ? init : { ...init, signal });
    const text = await response.text();
    const json = text === "" || (response.headers.get("Content-Type") ?? "").includes("json");
    const answer = (text !== "" && json ? JSON.parse(text) : {}) as Operations[Op]["answer"] & Problem;
    return response.ok && json ? { ok: true, answer } : { ok: false, why: whyOf(answer, response.statusText), away: false, status: response.status, answer };
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") {
      throw error;
    }
    return { ok: false, why: "The server cannot be reached", away: true, status: 0, answer: {} };
  }
}

/** An error message with its cause. */
export function failure(what: string, { away, why }: Failure<unknown>): string {
  return `${what}: ${away ? "the server cannot be reached" : why}`;
}

/** Calls an operation and returns its answer. A failure is passed to `wrong`, and the result is undefined. */
export async function ask<Op extends Route>(op: Op, given: Operations[Op]["given"], body?: Sent<Operations[Op]["body"]>, wrong: (text: string) => void = (text) => notify(text, "err")): Promise<Operations[Op]["answer"] | undefined> {
  const reply = await request(op, given, { body });
  if (reply.ok) {
    return reply.answer;
  }
  wrong(reply.why);
  return undefined;
}

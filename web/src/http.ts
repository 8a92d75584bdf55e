// Requests to the HTTP API, and messages about failures.

import { root } from "./address";
import { notify } from "./notify";

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

interface Options {
  method?: string;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

interface Problem {
  detail?: string;
  errors?: { message?: string; location?: string }[];
}

/** The address of the operations of a workspace. */
export function apiOf(workspace: string): string {
  return `${root()}/api/v1/projects/${encodeURIComponent(workspace)}`;
}

/** The error message of a response, with its first position. */
function whyOf(answer: Problem, status: string): string {
  const first = answer.errors?.[0];
  const where = first?.location ?? "";
  const why = first?.message === undefined ? "" : `: ${where === "" ? "" : `${where}: `}${first.message}`;
  return (answer.detail ?? status) + why;
}

/** Sends a request: a GET, or a POST if it has a body. Text, files and forms are sent unchanged, other bodies as JSON. Rejects only when
 *  aborted by its signal. */
export async function request<T>(address: string, { method, body, headers, signal }: Options = {}): Promise<Reply<T>> {
  const plain = typeof body === "string" || body instanceof Blob || body instanceof FormData || body instanceof URLSearchParams;
  const init: RequestInit = { method: method ?? (body === undefined ? "GET" : "POST"), headers: headers ?? {} };
  if (plain) {
    init.body = body;
  } else if (body !== undefined) {
    init.headers = { ...headers, "Content-Type": "application/json" };
    init.body = JSON.stringify(body);
  }
  try {
    const response = await fetch(address, signal === undefined ? init : { ...init, signal });
    const text = await response.text();
    const json = text === "" || (response.headers.get("Content-Type") ?? "").includes("json");
    const answer = (text !== "" && json ? JSON.parse(text) : {}) as T & Problem;
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

/** Sends a request and returns its response. A failure is passed to `wrong`, and the result is undefined. */
export async function ask<T>(address: string, method = "GET", body?: unknown, wrong: (text: string) => void = (text) => notify(text, "err")): Promise<T | undefined> {
  const reply = await request<T>(address, { method, body });
  if (reply.ok) {
    return reply.answer;
  }
  wrong(reply.why);
  return undefined;
}

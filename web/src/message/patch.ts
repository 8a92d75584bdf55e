// Changes of lists, texts and bytes, as the server sends them.

import type { ViewBytesPatch, PageSplice } from "../api/api";

/** A change of a list: `new` replaces `remove` elements from `at` on, all if it is -1. */
export interface Patch<T> {
  at: number;
  remove?: number;
  new?: T[];
}

/** Applies the patches of a list; they are in ascending order, and `at` counts in the list before all of them. */
export function patched<T>(list: readonly T[], patches: readonly Patch<T>[] | undefined): readonly T[] {
  if (patches === undefined) {
    return list;
  }
  const out: T[] = [];
  let at = 0;
  for (const patch of patches) {
    if (patch.remove === -1) {
      return patch.new ?? [];
    }
    for (; at < patch.at; at++) {
      out.push(list[at] as T);
    }
    out.push(...(patch.new ?? []));
    at += patch.remove ?? 0;
  }
  for (; at < list.length; at++) {
    out.push(list[at] as T);
  }
  return out;
}

/** Applies the change of a text. */
export function spliced(text: string, { at, remove = 0, insert = "" }: PageSplice): string {
  return text.slice(0, at) + insert + text.slice(at + remove);
}

/** Applies the change of bytes. */
export function patchedBytes(bytes: Uint8Array, patch: ViewBytesPatch | undefined): Uint8Array {
  if (patch === undefined) {
    return bytes;
  }
  const text = atob(patch.new);
  const at = patch.at ?? 0;
  const rest = bytes.subarray(patch.remove === -1 ? bytes.length : at + (patch.remove ?? 0));
  const out = new Uint8Array(at + text.length + rest.length);
  out.set(bytes.subarray(0, at));
  for (let i = 0; i < text.length; i++) {
    out[at + i] = text.charCodeAt(i);
  }
  out.set(rest, at + text.length);
  return out;
}

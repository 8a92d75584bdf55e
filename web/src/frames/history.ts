// The frames that were chosen, one after the other, to go back to.

import type { FrameName } from "./protocol";

const most = 200;

export class History {
  private frames: FrameName[] = [];
  private at = -1;

  /** A frame was chosen; what was ahead of the last step back is forgotten. */
  visit(n: FrameName): void {
    if (this.frames[this.at] === n) {
      return;
    }
    this.frames = [...this.frames.slice(0, this.at + 1), n].slice(-most);
    this.at = this.frames.length - 1;
  }

  /** The frame before or after, or undefined at an end. */
  travel(by: -1 | 1): FrameName | undefined {
    const n = this.frames[this.at + by];
    if (n !== undefined) {
      this.at += by;
    }
    return n;
  }
}

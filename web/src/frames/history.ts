// The history of selected frames.

import type { FrameName } from "../api/frames";

const most = 200;

export class History {
  private frames: FrameName[] = [];
  private at = -1;

  /** Records a selected frame and discards the forward history. */
  visit(n: FrameName): void {
    if (this.frames[this.at] === n) {
      return;
    }
    this.frames = [...this.frames.slice(0, this.at + 1), n].slice(-most);
    this.at = this.frames.length - 1;
  }

  /** The previous or next frame, or undefined at an end. */
  travel(by: -1 | 1): FrameName | undefined {
    const n = this.frames[this.at + by];
    if (n !== undefined) {
      this.at += by;
    }
    return n;
  }
}

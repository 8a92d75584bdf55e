// The recent texts of a room. An answer of the server says by a sum which of them it is about.

const most = 100;

/** The texts by their sums. */
export class RecentTexts {
  private readonly sum: (text: string) => number;
  private readonly texts = new Map<number, string>(); // oldest first

  constructor(sum: (text: string) => number) {
    this.sum = sum;
  }

  add(text: string): void {
    const sum = this.sum(text);
    this.texts.delete(sum);
    this.texts.set(sum, text);
    const [oldest] = this.texts.keys();
    if (this.texts.size > most && oldest !== undefined) {
      this.texts.delete(oldest);
    }
  }

  has(sum: number): boolean {
    return this.texts.has(sum);
  }

  get(sum: number): string | undefined {
    return this.texts.get(sum);
  }

  clear(): void {
    this.texts.clear();
  }
}

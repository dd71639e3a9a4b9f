/** Takes chunks of bytes apart into lines, and hands on each with its size in bytes. A last line without end counts. */
export class Lines {
  #rest: Uint8Array[] = [];
  readonly #take: (line: string, bytes: number) => void;

  constructor(take: (line: string, bytes: number) => void) {
    this.#take = take;
  }

  push(chunk: Uint8Array): void {
    let start = 0;
    for (let end; (end = chunk.indexOf(0x0a, start)) >= 0; start = end + 1) {
      this.#rest.push(chunk.subarray(start, end));
      this.end();
    }
    if (start < chunk.length) this.#rest.push(chunk.subarray(start));
  }

  /** No more will come. */
  end(): void {
    const line = Buffer.concat(this.#rest);
    this.#rest = [];
    if (line.length > 0) this.#take(line.toString("utf8"), line.length);
  }
}

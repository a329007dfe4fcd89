const LINE_FEED = 0x0a;

/** Divides the bytes of a stream into lines. */
export class LineSplitter {
  #chunks: Buffer[] = [];
  #length = 0;

  /** Length of the line that has not ended yet, in bytes. */
  get length(): number {
    return this.#length;
  }

  /** The line that has not ended yet. */
  get rest(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  /** @returns the lines that end in the chunk, without their line feeds */
  take(chunk: Buffer): readonly Buffer[] {
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      this.#chunks.push(chunk.subarray(start, end));
      lines.push(this.rest);
      this.#chunks = [];
      this.#length = 0;
      start = end + 1;
    }
    if (start < chunk.length) this.#chunks.push(chunk.subarray(start));
    this.#length += chunk.length - start;
    return lines;
  }
}

/** The line of an offset, and where that line starts. */
export interface LinePlace {
  /** From 1. */
  readonly line: number;
  readonly start: number;
}

/** Finds the lines of offsets, which must not decrease from call to call. */
export function lineCounter(text: string): (offset: number) => LinePlace {
  const ending = /\r\n|\r|\n/g;
  let [line, start] = [1, 0];
  let next = ending.exec(text);
  return offset => {
    for (; next && ending.lastIndex <= offset; next = ending.exec(text)) {
      line++;
      start = ending.lastIndex;
    }
    return { line, start };
  };
}

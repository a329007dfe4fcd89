/** The code of a file system error, such as `ENOENT`; empty for other errors. */
export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? '';
}

/** What the work gives; `undefined` when it finds no such file. */
export function orMissing<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error))) return undefined;
    throw error;
  }
}

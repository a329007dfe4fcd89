/** The code of a file system error, such as `ENOENT`; empty for any other error. */
export function errorCode(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? '';
}

/** The result of a file operation; `undefined` if the file does not exist. */
export function ifExists<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return undefined;
    throw error;
  }
}

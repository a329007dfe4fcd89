/** A promise that is settled from outside: `Promise.withResolvers` for what needs no value. */
export interface Deferred {
  readonly promise: Promise<void>;
  resolve(): void;
}

export function deferred(): Deferred {
  let resolve = (): void => undefined;
  const promise = new Promise<void>(settle => (resolve = settle));
  return { promise, resolve };
}

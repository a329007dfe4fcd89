/** What is wrong with a custom tool. */
export type LoadFault =
  | { readonly kind: 'noDefaultExport' }
  /** The default export is no function. */
  | { readonly kind: 'noFactory' }
  | { readonly kind: 'importFailed'; readonly message: string }
  /** The import or the factory did not settle. */
  | { readonly kind: 'timedOut'; readonly seconds: number }
  | { readonly kind: 'factoryThrew'; readonly message: string }
  /** `index` counts from 0; a factory that gives one tool gives the one with index 0. */
  | { readonly kind: 'invalidTool'; readonly index: number; readonly message: string }
  /** `by` is the file that has the name; left out for a tool that comes with Redline or another extension. */
  | { readonly kind: 'nameTaken'; readonly name: string; readonly by?: string }
  /** It tried to end the process; `call` is how. */
  | { readonly kind: 'exitCalled'; readonly call: string }
  /** Outside of any call: in a timer, in `onSession`, in a promise that nobody waits for. */
  | { readonly kind: 'threwLater'; readonly message: string };

/** A fault at its place. */
export interface LoadProblem {
  /** Absolute path. */
  readonly file: string;
  /** Both count from 0; the first character of the file where the place is not known. */
  readonly line: number;
  readonly column: number;
  readonly fault: LoadFault;
}

/** A fault in a line for the log. */
export function faultText(fault: LoadFault): string {
  const { kind, ...rest } = fault;
  return [kind, ...Object.entries(rest).map(([key, value]) => `${key}: ${String(value)}`)].join(', ');
}

/**
 * An error whose message is written for the model: it names the fault and the next step.
 * A tool that throws one gets exactly this text as its error result.
 */
export class ToolError extends Error {
  override readonly name: string = 'ToolError';
  /** The fault alone, without advice for the model. */
  readonly fact: string;
  readonly advice: string;

  /** @param options `advice`: the model's next step, if a person has no use for it. */
  constructor(fact: string, { advice = '', ...options }: ErrorOptions & { readonly advice?: string } = {}) {
    super(advice === '' ? fact : `${fact} ${advice}`, options);
    this.fact = fact;
    this.advice = advice;
  }
}

/** A tool refuses the arguments of a call. */
export class InvalidArgumentsError extends ToolError {
  override readonly name = 'InvalidArgumentsError';
}

/** Why a path is refused. A view chooses its own sentence by this code; the message is written for the model. */
export type PathErrorCode = 'outside' | 'protected' | 'empty' | 'noWorkspace';

/** A path that the agent may not touch. */
export class PathError extends ToolError {
  override readonly name = 'PathError';
  readonly code: PathErrorCode;

  constructor(code: PathErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** The text of anything that was thrown. Never throws. */
export function messageOf(error: unknown): string {
  return textFrom(() => (error instanceof Error ? error.message : error));
}

/** The text of anything that was thrown, without the advice that is only for the model. Never throws. */
export function factOf(error: unknown): string {
  return error instanceof ToolError ? error.fact : messageOf(error);
}

/** The text of an error of the file system, without the absolute paths that Node ends it with. Never throws. */
export function messageWithoutPaths(error: unknown): string {
  return messageOf(error).replace(/, \w+ '[^]*'$/, '');
}

/** The stack of anything that was thrown, for the log. Never throws. */
export function detailOf(error: unknown): string {
  return textFrom(() =>
    error instanceof Error ? (error.stack ?? `${error.name}: ${error.message}`) : error,
  );
}

/** The result of `read`; `undefined` if it throws. */
export function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function textFrom(read: () => unknown): string {
  try {
    return String(read());
  } catch {
    return 'a value without a text was thrown'; // for example, an object without a prototype
  }
}

/** Whether it is an error of the system with one of these codes, such as `ENOENT`. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.some(code => code === error.code);
}

/** Whether the error is a failed system call, of the file system or another part of the system. */
export function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && 'syscall' in error;
}

/** True for the error of an aborted signal, an `AbortError` of any class. */
export function isAbortError(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

import { safeName } from './safeName.ts';
import { listed } from './phrases.ts';

/**
 * An error whose message is written for the model: it says what went wrong and what to do next.
 * A tool that throws one gets exactly this text as its error result.
 */
export class ToolError extends Error {
  override readonly name: string = 'ToolError';
  /** What went wrong, without what the model is to do next. */
  readonly fact: string;
  readonly advice: string;

  /** @param options `advice`: what the model is to do next, if that is of no use to a person. */
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

/** A file no longer holds the base that a preview was made on. Nothing was written. */
export class StalePreviewError extends ToolError {
  override readonly name = 'StalePreviewError';
  /** Workspace paths of the changed files. */
  readonly paths: readonly string[];
  /** Those of them that are elsewhere now, and where. */
  readonly moved: ReadonlyMap<string, string>;

  /** @param lost the ids of the previews that it builds on and that were not applied, if that is why. */
  constructor(
    paths: readonly string[],
    lost: readonly string[] = [],
    moved: ReadonlyMap<string, string> = new Map(),
  ) {
    const places = [...moved].map(([from, to]) => ` ${safeName(from)} was moved to ${safeName(to)}.`);
    super(`Nothing was written: ${staleReason(paths, lost)}${places.join('')}`, {
      advice: 'Read the file again, discard this preview and stage a new change.',
    });
    this.paths = paths;
    this.moved = moved;
  }
}

/** Why a preview no longer fits these files, in a sentence. @param lost see {@link StalePreviewError}. */
export function staleReason(paths: readonly string[], lost: readonly string[] = []): string {
  return lost.length > 0
    ? `this builds on ${listed(lost)}, which ${lost.length === 1 ? 'was' : 'were'} not applied, so ${listed(paths)} ${paths.length === 1 ? 'does' : 'do'} not hold what it changes.`
    : `${listed(paths)} changed after the preview was made.`;
}

/** A file has unsaved changes in an editor that cannot be read as text: a notebook, or a custom editor. */
export class UnsavedEditorError extends ToolError {
  override readonly name = 'UnsavedEditorError';

  constructor(path: string) {
    super(
      `${safeName(path)} has unsaved changes in a notebook, a custom editor or a document that has no file yet, which cannot be read or edited as text.`,
      { advice: 'Ask the user to save or revert them first.' },
    );
  }
}

/** A preview cannot be applied before those it builds on. Nothing was written. */
export class BlockedPreviewError extends ToolError {
  override readonly name = 'BlockedPreviewError';
  /** Ids of the pending previews that must be applied first, in order. */
  readonly blockers: readonly string[];

  constructor(id: string, blockers: readonly string[]) {
    super(
      `${id} builds on previews that are still pending: ${blockers.join(', ')}. Nothing was written. Resolve those first.`,
    );
    this.blockers = blockers;
  }
}

/** An attempt could not be recorded before its first effect, so nothing was done. */
export class JournalError extends ToolError {
  override readonly name = 'JournalError';

  /** @param cause the error of the log. */
  constructor(cause: unknown) {
    super(
      `Nothing was changed: Redline could not write to its log first (${messageOf(cause)}), and without that it applies nothing. ` +
        'The preview is still pending. Tell the user; it can be applied once the log can be written.',
      { cause },
    );
  }
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
  return textOf(() => (error instanceof Error ? error.message : error));
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
  return textOf(() => (error instanceof Error ? (error.stack ?? `${error.name}: ${error.message}`) : error));
}

/** What `read` gives; `undefined` if it throws. */
export function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function textOf(read: () => unknown): string {
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

/** Whether the file system, or another part of the system, has refused something. */
export function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && 'syscall' in error;
}

/** True for the error of an aborted signal, an `AbortError` of any class. */
export function isAbortError(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

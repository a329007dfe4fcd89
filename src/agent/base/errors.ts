/**
 * An error whose message is written for the model: it says what went wrong and what to do next.
 * A tool that throws one gets exactly this text as its error result.
 */
export class ToolError extends Error {
  override readonly name: string = 'ToolError';
  /** Tells it from other errors also across parts that are loaded late and have a copy of this class. */
  readonly isForModel = true;
}

/** Also true for errors of that name which a custom tool has a class of its own for. */
export function isToolError(error: unknown): error is ToolError {
  return error instanceof Error && ('isForModel' in error || error.name === 'ToolError');
}

/** Arguments of a call that its tool refuses. */
export class InvalidArgumentsError extends ToolError {
  override readonly name = 'InvalidArgumentsError';
}

/** A base that a preview was made on is no longer what is there. Nothing was written. */
export class StalePreviewError extends ToolError {
  override readonly name = 'StalePreviewError';
  /** Workspace paths of the files that moved on. */
  readonly paths: readonly string[];

  constructor(paths: readonly string[]) {
    super(
      `Nothing was written: ${paths.join(', ')} changed after the preview was made. ` +
        'Read the file again, discard this preview and stage the change anew.',
    );
    this.paths = paths;
  }
}

/** A preview cannot be applied before those that it is made on. Nothing was written. */
export class BlockedPreviewError extends ToolError {
  override readonly name = 'BlockedPreviewError';
  /** Ids of the pending previews that come first, in order. */
  readonly blockers: readonly string[];

  constructor(id: string, blockers: readonly string[]) {
    super(
      `${id} is made on ${blockers.join(', ')}, which are pending. Nothing was written. Resolve those first.`,
    );
    this.blockers = blockers;
  }
}

/** Why a path is refused. The `code` lets a view choose its own sentence; the message is the model's. */
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

/** The full text of anything that was thrown, for the log. Never throws. */
export function detailOf(error: unknown): string {
  return textOf(() => (error instanceof Error ? (error.stack ?? `${error.name}: ${error.message}`) : error));
}

function textOf(read: () => unknown): string {
  try {
    return String(read());
  } catch {
    return 'something that has no text was thrown'; // an object without a prototype, for one
  }
}

/** True for the error of an aborted signal (`AbortError`), whoever made it. */
export function isAbortError(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

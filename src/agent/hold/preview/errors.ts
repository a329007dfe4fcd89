import { messageOf, ToolError } from '../../base/errors.ts';
import { listed } from '../../base/phrases.ts';
import { safeName } from '../../base/safeName.ts';

/** A file no longer holds the base that a preview was made on. Nothing was written. */
export class StalePreviewError extends ToolError {
  override readonly name = 'StalePreviewError';
  /** Workspace paths of the changed files. */
  readonly paths: readonly string[];
  /** The moved ones among them, and where they are now. */
  readonly moved: ReadonlyMap<string, string>;

  /** @param lost the ids of the previews that it builds on and that were not applied, if that is why. */
  constructor(
    paths: readonly string[],
    lost: readonly string[] = [],
    moved: ReadonlyMap<string, string> = new Map(),
  ) {
    const places = [...moved].map(([from, to]) => ` ${safeName(from)} was moved to ${safeName(to)}.`);
    super(`Nothing was written: ${staleReason(paths, lost)}${places.join('')}`, {
      advice: renewText(lost.length > 0 ? [] : paths.map(path => moved.get(path) ?? path)),
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

/**
 * Tells an agent how to replace its stale preview.
 * @param toRead the files that changed, as far as they exist
 */
export function renewText(toRead: readonly string[]): string {
  const reading = toRead.length > 0 ? `read ${listed(toRead)} again and ` : '';
  return `Discard it if you may. If the change is still needed, ${reading}stage it anew.`;
}

/** A file has unsaved changes in an editor that cannot be read as text: a notebook, or a custom editor. */
export class UnsavedEditorError extends ToolError {
  override readonly name = 'UnsavedEditorError';
  readonly path: string;

  constructor(path: string) {
    super(
      `${safeName(path)} has unsaved changes in a notebook, a custom editor or a document that has no file yet, which cannot be read or edited as text.`,
      { advice: 'Ask the user to save or revert them first.' },
    );
    this.path = path;
  }
}

/** A preview cannot be applied before those it builds on. Nothing was written. */
export class BlockedPreviewError extends ToolError {
  override readonly name = 'BlockedPreviewError';
  /** Ids of the pending previews that must be applied first, in order. */
  readonly blockers: readonly string[];

  constructor(id: string, blockers: readonly string[]) {
    super(
      `${id} was not applied, since it builds on previews that are still pending: ${blockers.join(', ')}. Resolve those first.`,
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

/** Why a vote is refused before anything is attempted. A view chooses its own sentence by this code; the message is for the model. */
export type RefusalCode = 'outdated' | 'unknown' | 'conflicts' | 'elsewhere';

/** A vote that is refused before anything is attempted. Nothing was changed. */
export class RefusedVoteError extends ToolError {
  readonly code: RefusalCode;
  /** The workspace paths that it is about, if it is about some. */
  readonly paths: readonly string[];

  constructor(code: RefusalCode, fact: string, paths: readonly string[] = [], advice = '') {
    super(fact, { advice });
    this.code = code;
    this.paths = paths;
  }
}

/** Rejects with a {@link JournalError}. */
export function asJournalError(error: unknown): never {
  throw new JournalError(error);
}

import { hashedSides, type TextSide } from '../../../../hold/preview/fileChange.ts';
import { applyTextEdits, type TextEdit } from '../../../../hold/text/textEdit.ts';
import type { SearchRoot } from '../scope/walk.ts';

/** A pattern and the rewrite of its matches; with `null` it only searches. */
export interface AstOp {
  readonly pat: string;
  /** The kind of the node in `pat` that is searched for; the rest of `pat` is only there to be parsed. */
  readonly selector?: string | undefined;
  readonly out: string | null;
}

/** A file whose current text is not the one on disk. `null` bytes: it does not exist or is not to be searched. */
export interface FileInMemory {
  readonly path: string;
  readonly bytes: Uint8Array | null;
}

/** An editor's unsaved content of a file. `null` bytes: it is not to be searched. */
export interface UnsavedFile {
  /** Identifies the file on disk, see `fileIdOf`: it is searched under its other names, too. */
  readonly id: string;
  readonly bytes: Uint8Array | null;
}

export interface AstRequest {
  readonly ops: readonly AstOp[];
  readonly roots: readonly SearchRoot[];
  readonly inMemory: readonly FileInMemory[];
  readonly unsaved?: readonly UnsavedFile[];
}

/** One match of a search: where it begins (1-based), and its first line, shortened. */
export interface MatchRow {
  readonly line: number;
  readonly column: number;
  readonly text: string;
}

/** A file with matches. */
export interface AstFile {
  readonly path: string;
  readonly matches: number;
  /** The patterns that match in it, by their index in the request. */
  readonly ops: readonly number[];
  /** The number of matches inside other matches, which are left alone. */
  readonly nested: number;
  /** The file has syntax errors; it was searched all the same. */
  readonly syntaxErrors: boolean;
  /** After the edits the file has syntax errors that it did not have before. */
  readonly newSyntaxErrors: boolean;
  readonly found:
    | {
        readonly kind: 'edits';
        readonly before: TextSide;
        readonly after: TextSide;
        readonly edits: readonly TextEdit[];
      }
    | { readonly kind: 'rows'; readonly rows: readonly MatchRow[] };
}

/** A search's report at its end. */
export interface AstSummary {
  /** The number of files that the paths select. */
  readonly selected: number;
  /** The number of these in a language in which one of the patterns is valid. */
  readonly searched: number;
  /** Extensions of the selected files whose language is not supported. */
  readonly unknownExtensions: readonly string[];
  /** Patterns that are not valid in the language of some selected file. */
  readonly invalid: readonly { readonly pat: string; readonly language: string; readonly reason: string }[];
  /** Patterns that match nowhere, and the kind of node that they are in a language. */
  readonly unmatched: readonly { readonly pat: string; readonly language: string; readonly kind: string }[];
  /** Files over the size limit. */
  readonly tooLarge: readonly string[];
  /** Files that might match but are not text in UTF-8 or UTF-16. */
  readonly notText: readonly string[];
}

/** The variables of a rewrite that its pattern does not bind in a language, and those that it binds, as they are written. */
export interface UnboundVariables {
  readonly op: number;
  readonly language: string;
  readonly names: readonly string[];
  readonly bound: readonly string[];
}

/** The lines of a match, from 1, and the index of its pattern. */
export interface MatchPlace {
  readonly op: number;
  readonly startLine: number;
  readonly endLine: number;
}

/** Why a search failed. `op` is the index of a pattern in the request. */
export type AstFailure =
  | { readonly code: 'invalidPattern'; readonly op: number; readonly reasons: readonly string[] }
  | ({ readonly code: 'unbound' } & UnboundVariables)
  /** Two patterns match code that overlaps: the places in their order in the file. */
  | {
      readonly code: 'overlap';
      readonly path: string;
      readonly first: MatchPlace;
      readonly second: MatchPlace;
    }
  /** The native engine cannot be loaded, so no search can succeed. */
  | { readonly code: 'noEngine'; readonly reason: string }
  | { readonly code: 'other'; readonly message: string };

export type ToWorker =
  | { readonly type: 'run'; readonly id: number; readonly request: AstRequest }
  | { readonly type: 'cancel'; readonly id: number }
  /** A batch of files arrived, so the next may be sent. */
  | { readonly type: 'taken'; readonly id: number };

/**
 * A file with matches as the worker keeps and sends it. The text after the edits is `null` if applying the edits gives the
 * same text.
 */
export type SentFile = Omit<AstFile, 'found'> & {
  readonly found:
    | (Omit<Extract<AstFile['found'], { kind: 'edits' }>, 'after'> & {
        readonly after: Omit<TextSide, 'text'> & { readonly text: string | null };
      })
    | Extract<AstFile['found'], { kind: 'rows' }>;
};

/** The size of a file with matches, in characters. Each match of a search counts as 256. */
export function charsOf({ found }: SentFile): number {
  if (found.kind === 'rows') return 256 * found.rows.length;
  return found.before.text.length + (found.after.text?.length ?? 0);
}

/** The file as it was before it was packed for sending. */
export function unpack(file: SentFile): AstFile {
  const { found } = file;
  if (found.kind !== 'edits') return { ...file, found };
  const text = found.after.text ?? applyTextEdits(found.before.text, found.edits);
  const after = { ...found.after, text };
  for (const side of [found.before, after]) hashedSides.add(side);
  return { ...file, found: { ...found, after } };
}

export type FromWorker =
  | { readonly type: 'files'; readonly id: number; readonly files: readonly SentFile[] }
  /** A `cancel` has arrived, so the worker is not stuck. */
  | { readonly type: 'cancelled'; readonly id: number }
  | { readonly type: 'done'; readonly id: number; readonly summary: AstSummary }
  | { readonly type: 'failed'; readonly id: number; readonly failure: AstFailure };

/** A search that failed. */
export class AstError extends Error {
  override readonly name = 'AstError';
  readonly failure: AstFailure;

  constructor(failure: AstFailure) {
    super(failure.code);
    this.failure = failure;
  }
}

import type { FileSide } from '../../preview/fileChange.ts';
import { applyTextEdits, type TextEdit } from '../../preview/textEdit.ts';
import type { SearchRoot } from './walk.ts';

/** A pattern, and what replaces its matches; `null` only searches. */
export interface AstOp {
  readonly pat: string;
  readonly out: string | null;
}

/** A file whose text as the person sees it is not the one on disk; `null` bytes: there is none. */
export interface SeenFile {
  readonly path: string;
  readonly bytes: Uint8Array | null;
}

export interface AstRequest {
  readonly ops: readonly AstOp[];
  readonly roots: readonly SearchRoot[];
  readonly seen: readonly SeenFile[];
}

/** One match of a search: where it begins (1-based) and its first line, shortened. */
export interface MatchRow {
  readonly line: number;
  readonly column: number;
  readonly text: string;
}

/** A file with matches. `side` is the text they were found in. */
export interface AstFile {
  readonly path: string;
  readonly matches: number;
  /** Matches inside of other matches, which stay as they are. */
  readonly nested: number;
  /** The file has syntax errors; it was searched all the same. */
  readonly syntaxErrors: boolean;
  readonly found:
    | {
        readonly kind: 'edits';
        readonly before: FileSide;
        readonly after: FileSide;
        readonly edits: readonly TextEdit[];
      }
    | { readonly kind: 'rows'; readonly rows: readonly MatchRow[] };
}

/** What a search did beside finding files. */
export interface AstSummary {
  /** Files that the paths selected. */
  readonly selected: number;
  /** Files among them in a language that some pattern is valid in. */
  readonly searched: number;
  /** Extensions of files whose language is not known. */
  readonly unknownExtensions: readonly string[];
  /** Languages in which a pattern is not valid, although files of them were selected. */
  readonly invalid: readonly { readonly pat: string; readonly language: string; readonly reason: string }[];
  /** Files over the size limit. */
  readonly tooLarge: readonly string[];
  /** Files that might match but are not text in UTF-8 or UTF-16. */
  readonly notText: readonly string[];
}

/** Why a search came to nothing. Patterns are named by their place in the request. */
export type AstFailure =
  | { readonly code: 'invalidPattern'; readonly op: number; readonly reasons: readonly string[] }
  | { readonly code: 'overlap'; readonly path: string; readonly line: number }
  | { readonly code: 'other'; readonly message: string };

/** How far a search is. */
export interface AstProgress {
  readonly selected: number;
  readonly files: number;
  readonly matches: number;
}

export type ToWorker =
  | { readonly type: 'run'; readonly id: number; readonly request: AstRequest }
  | { readonly type: 'cancel'; readonly id: number }
  /** A batch of files arrived: the next may be sent. */
  | { readonly type: 'taken'; readonly id: number };

/**
 * A file with matches as the worker keeps and sends it: the text after its edits is left out where making it anew gives
 * the same.
 */
export type SentFile = Omit<AstFile, 'found'> & {
  readonly found:
    | (Omit<Extract<AstFile['found'], { kind: 'edits' }>, 'after'> & {
        readonly after: Omit<FileSide, 'text'> & { readonly text: string | null };
      })
    | Extract<AstFile['found'], { kind: 'rows' }>;
};

/** How much there is to keep or send of a file, in characters. */
export function charsOf({ found }: SentFile): number {
  if (found.kind === 'rows') return 256 * found.rows.length;
  return found.before.text.length + (found.after.text?.length ?? 0);
}

/** The file that was sent. */
export function unpacked(file: SentFile): AstFile {
  const { found } = file;
  if (found.kind !== 'edits') return { ...file, found };
  const text = found.after.text ?? applyTextEdits(found.before.text, found.edits);
  return { ...file, found: { ...found, after: { ...found.after, text } } };
}

export type FromWorker =
  | { readonly type: 'ready' }
  | {
      readonly type: 'files';
      readonly id: number;
      readonly files: readonly SentFile[];
      readonly progress: AstProgress;
    }
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

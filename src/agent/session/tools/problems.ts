import { shortened } from '../../base/cutText.ts';
import { safeName, safeText } from '../../base/safeName.ts';
import type { Event } from '../../base/event.ts';

/** From the worst to the mildest. */
export const severities = ['error', 'warning', 'information'] as const;
export type Severity = (typeof severities)[number];

/** One entry of VS Code's Problems view. */
export interface Problem {
  /** Workspace path. */
  readonly path: string;
  readonly severity: Severity;
  /** Counted from 1. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** The reporting service, such as `ts`. */
  readonly source?: string;
  readonly code?: string;
}

/**
 * Problems that language services report on the files of the workspace, as they are and, where they look at previews, as proposed.
 */
export interface Problems {
  /**
   * @param paths workspace paths of files and folders; without them, the whole workspace.
   */
  list(paths?: readonly string[]): readonly Problem[];
  /**
   * Problems in the text that a preview proposes for a file, with the path of the file; `undefined` if no language service has
   * checked exactly this text, as for most languages and for every preview that is not open.
   */
  ofProposal(previewId: string, path: string, text: string): readonly Problem[] | undefined;
  /** Whether the file is open. Many language services check only files that are. */
  isOpen(path: string): boolean;
  /** Fires with the workspace paths of files for which problems were reported, even if these are the same as before. */
  readonly onDidChange: Event<readonly string[]>;
}

/** The most characters of a problem's message that the model gets. */
const MAX_MESSAGE_CHARS = 300;

/** A problem on one line: `src/a.ts:3:7 error: Cannot find name 'x'. [ts 2304]`. */
export function problemLine({ path, severity, line, column, message, source, code }: Problem): string {
  const text = message.replace(/\s+/g, ' ').trim();
  const shown = text === '' ? '' : safeText(shortened(text, MAX_MESSAGE_CHARS));
  const parts = [source, code].filter(part => part !== undefined && part !== '');
  const origin = parts.length === 0 ? '' : safeText(parts.join(' '));
  return `${safeName(path)}:${line}:${column} ${severity}: ${shown}${origin === '' ? '' : ` [${origin}]`}`;
}

/** The worst first, then by file and place. */
export function byImportance(a: Problem, b: Problem): number {
  return (
    severities.indexOf(a.severity) - severities.indexOf(b.severity) ||
    (a.path < b.path ? -1 : a.path > b.path ? 1 : 0) ||
    a.line - b.line ||
    a.column - b.column
  );
}

/** Whether a path is the other one, or below it. */
export function isWithin(path: string, fileOrFolder: string): boolean {
  return path === fileOrFolder || path.startsWith(`${fileOrFolder}/`);
}

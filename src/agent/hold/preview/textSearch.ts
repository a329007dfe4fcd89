import type { PendingContents } from './overlay.ts';

export interface TextQuery {
  /** One line: the text itself, or a regular expression. Case matters. */
  readonly query: string;
  readonly isRegex: boolean;
  /** Relative to the workspace folder; without a slash it matches names in any folder. */
  readonly glob?: string;
  /** Also searches files that are otherwise left out, except for `.git`. */
  readonly ignored?: boolean;
}

/**
 * Searches the text of the workspace's files as the user sees it, unsaved edits included. Files that are hidden by ignore
 * files, `files.exclude` or `search.exclude` are left out, unless the query says otherwise.
 */
export interface TextSearch {
  /**
   * @param pending proposed contents, which are searched instead of those files.
   * @throws ToolError for an invalid pattern; the abort error when `signal` fires.
   */
  search(
    query: TextQuery,
    limit: number,
    signal: AbortSignal,
    pending: PendingContents,
  ): Promise<TextMatches>;
}

/** One line with at least one match. */
export interface TextMatch {
  /** Workspace path. */
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  /** The whole line without its line ending. */
  readonly text: string;
  /** Where in the line the first match begins, in UTF-16 units. */
  readonly at: number;
}

export interface TextMatches {
  /** Sorted by path and line. */
  readonly matches: readonly TextMatch[];
  /** Why there may be more matches: the limit was reached, or the search took too long. */
  readonly cutBy?: 'limit' | 'time';
}

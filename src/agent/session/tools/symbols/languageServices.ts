/** The most characters of a symbol's name. */
export const MAX_NAME_CHARS = 200;

/** A place in a file as it is, without pending previews. Both numbers count from 0, characters in UTF-16 units. */
export interface Position {
  readonly line: number;
  readonly character: number;
}

/** A declaration in a file, as the outline of VS Code shows it. */
export interface DeclaredSymbol {
  readonly name: string;
  /** Such as `class` or `function`. */
  readonly kind: string;
  /** The first and the last line of the declaration, counted from 0. */
  readonly line: number;
  readonly endLine: number;
  readonly children: readonly DeclaredSymbol[];
}

/** A place where a symbol is declared or used. */
export interface FoundPlace extends Position {
  /** The workspace path; of a file outside the workspace, its name. */
  readonly path: string;
  readonly isOutside: boolean;
}

/** A replacement for a range of a file as it is. */
export interface RangeEdit {
  readonly start: Position;
  readonly end: Position;
  readonly text: string;
}

/** A language service's answer to the renaming of a symbol. */
export type RenameAnswer =
  | {
      readonly kind: 'edits';
      readonly files: readonly { readonly path: string; readonly edits: readonly RangeEdit[] }[];
    }
  /** No language service renames in such files. */
  | { readonly kind: 'none' }
  /** It refuses, in its own words. */
  | { readonly kind: 'refused'; readonly message: string }
  /** It wants changes that Redline cannot show as edits of files in the workspace. */
  | { readonly kind: 'unsupported'; readonly what: string };

/**
 * The language services of VS Code. They see the files as they are, in editors with unsaved changes or on disk, and no pending
 * preview. `undefined`: none serves such files. All reject with the abort error, and with a ToolError if no answer comes.
 */
export interface LanguageServices {
  outline(path: string, signal: AbortSignal): Promise<readonly DeclaredSymbol[] | undefined>;
  definitions(path: string, at: Position, signal: AbortSignal): Promise<readonly FoundPlace[]>;
  references(path: string, at: Position, signal: AbortSignal): Promise<readonly FoundPlace[]>;
  rename(path: string, at: Position, newName: string, signal: AbortSignal): Promise<RenameAnswer>;
}

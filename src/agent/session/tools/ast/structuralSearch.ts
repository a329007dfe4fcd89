import { quoted, safeName } from '../../../base/safeName.ts';
import { ToolError } from '../../../base/errors.ts';
import { listed, naturally, plural } from '../../../base/phrases.ts';
import type { ToolContext } from '../tool.ts';
import { readFilesInMemory, readUnsaved, searchRoots, type SearchScope } from './scope/searchScope.ts';
import type { AstEngine } from './worker/client.ts';
import {
  AstError,
  type AstFailure,
  type AstFile,
  type AstOp,
  type AstSummary,
  type MatchPlace,
} from './worker/protocol.ts';

/** The ports that the AST tools search with. */
export interface AstSearcher {
  readonly engine: AstEngine;
  readonly scope: SearchScope;
}

export interface SearchResult {
  /** Sorted by path, as people read it. */
  readonly files: readonly AstFile[];
  readonly summary: AstSummary;
  /** Ids of the pending previews that change the searched files with matches. */
  readonly pending: readonly string[];
}

/**
 * Runs a search for a tool and reports its progress.
 * @throws ToolError for everything that the model can correct.
 */
export async function searchByStructure(
  { engine, scope }: AstSearcher,
  ops: readonly AstOp[],
  paths: readonly string[],
  context: ToolContext,
): Promise<SearchResult> {
  checkPatterns(ops);
  const { workspace, signal } = context;
  const roots = await searchRoots(paths, scope.folders(), workspace);
  const inMemory = await readFilesInMemory([...scope.unsaved(), ...context.pending.paths()], workspace);
  const unsaved = await readUnsaved(scope);
  const files: AstFile[] = [];
  let matches = 0;
  const listener = {
    onFiles(batch: readonly AstFile[]): void {
      files.push(...batch);
      for (const file of batch) matches += file.matches;
      context.onUpdate?.(`${plural(matches, 'match', 'matches')} in ${plural(files.length, 'file')} so far`);
    },
  };
  let summary: AstSummary;
  try {
    summary = await engine.run({ ops, roots, inMemory, unsaved }, listener, signal);
  } catch (error) {
    if (error instanceof AstError) throw new ToolError(failureText(error.failure, ops));
    throw error;
  }
  if (summary.selected === 0) {
    throw new ToolError(`No file matches ${paths.join(', ')}. Use list_files to find the right paths.`);
  }
  if (summary.searched === 0 && summary.invalid.length === 0)
    throw new ToolError(unknownLanguageText(summary));
  const pending = files.flatMap(file => context.pending.at(file.path)?.previewId ?? []);
  return {
    files: files.sort((a, b) => naturally(a.path, b.path)),
    summary,
    pending: [...new Set(pending)],
  };
}

function checkPatterns(ops: readonly AstOp[]): void {
  const known = new Set<string>();
  ops.forEach(({ pat, selector = '' }, index) => {
    if (pat.trim() === '')
      throw new ToolError(`The pattern${place(ops, index)} is empty. Give the code to search for.`);
    const key = JSON.stringify([pat, selector]);
    if (known.has(key)) {
      throw new ToolError(`The pattern ${quoted(pat)} is given twice. Give each pattern once.`);
    }
    known.add(key);
  });
}

function failureText(failure: AstFailure, ops: readonly AstOp[]): string {
  switch (failure.code) {
    case 'invalidPattern': {
      const pat = JSON.stringify(ops[failure.op]?.pat ?? '');
      return (
        `The pattern ${pat}${place(ops, failure.op)} cannot be parsed: ${failure.reasons.join('; ')}. ` +
        'Write it as code in the language of the files, with $A for one node and $$$A for any number of nodes. ' +
        SELECTOR_ADVICE
      );
    }
    case 'unbound': {
      const { op, language, names, bound } = failure;
      const binds = bound.length === 0 ? 'no variable' : listed(bound);
      return (
        `The replacement${place(ops, op)} uses ${listed(names)}, but in ${language} the pattern ` +
        `${quoted(ops[op]?.pat ?? '')} binds ${binds}. Use variables of the pattern; for a literal $NAME write ` +
        '$$NAME. Nothing was staged.'
      );
    }
    case 'overlap': {
      const [first, second] = [failure.first, failure.second].map(each => matchPlace(ops, each));
      return (
        `Two replacements overlap in ${safeName(failure.path)}: that of ${first} and that of ${second}. Nothing was staged. ` +
        'Leave one of them out and call ast_edit again for it afterwards, which sees the files with the first preview ' +
        'applied; or refine a pattern so that no two match the same code.'
      );
    }
    case 'noEngine':
      return (
        'Structural search does not work on this machine: its native engine cannot be loaded. Do not try it again. ' +
        'Search the files as text (search_text) and edit them as text instead.'
      );
    case 'other':
      return `The search failed: ${failure.message}`;
  }
}

function unknownLanguageText({ unknownExtensions }: AstSummary): string {
  const shown = unknownExtensions.slice(0, 10).join(', ');
  return (
    `Unknown language: structural search does not support ${shown}. ` +
    'Search and edit them as text, or give paths of source files.'
  );
}

/** Advice for searching for code that is not a whole expression, statement or declaration. */
export const SELECTOR_ADVICE =
  'For a part of code that does not stand alone (a property, a case, a class field, a type, an attribute), give the code ' +
  'around it as pat and its kind as selector, e.g. pat "({ k: $V })" with selector "pair".';

function matchPlace(ops: readonly AstOp[], { op, startLine, endLine }: MatchPlace): string {
  const lines = startLine === endLine ? `line ${startLine}` : `lines ${startLine}-${endLine}`;
  return `ops.${op} (${JSON.stringify(ops[op]?.pat ?? '')}) at ${lines}`;
}

function place(ops: readonly AstOp[], index: number): string {
  return ops.length > 1 ? ` of ops.${index}` : '';
}

import { Buffer } from 'node:buffer';
import * as fs from 'node:fs';
import type { AstGrepNapi } from '../../src/agent/session/tools/ast/engine/astGrepNapi.ts';
import { languageOf } from '../../src/agent/session/tools/ast/engine/languages.ts';
import { cliErrors, type ByteRange } from './astGrepCli.ts';

/** The syntax errors that the two parsers find in the same file, where they differ. */
export interface Disagreement {
  /** The number of ranges with syntax errors in the CLI's tree. */
  readonly cli: number;
  /** The same in the tree of the package `@ast-grep/napi`. */
  readonly napi: number;
  /** The line (1-based) of the first range that only one of them has. */
  readonly line: number;
}

/**
 * How the CLI's tree of a file differs from the package's; `undefined` if both have the same syntax errors, or none.
 *
 * Both have the same version and the same grammars, but the CLI passes UTF-8 to tree-sitter and the package UTF-16. Where
 * code does not fit the grammar, tree-sitter's error recovery weighs what it could skip by its bytes, twice as many in
 * UTF-16, so it may recover differently. Code that fits the grammar has only one tree.
 */
export async function disagreementOn(napi: AstGrepNapi, file: string): Promise<Disagreement | undefined> {
  const text = fs.readFileSync(file, 'utf8');
  const cliRanges = await cliErrors(file);
  const napiRanges = napiErrors(napi, languageOf(file)?.id ?? 'TypeScript', text);
  const first = [...cliRanges, ...napiRanges]
    .filter(range => !(has(cliRanges, range) && has(napiRanges, range)))
    .reduce((least, [start]) => Math.min(least, start), Infinity);
  if (first === Infinity) return undefined;
  const line = Buffer.from(text).subarray(0, first).toString().split('\n').length;
  return { cli: cliRanges.length, napi: napiRanges.length, line };
}

function napiErrors(napi: AstGrepNapi, language: string, text: string): ByteRange[] {
  const errors = napi.parse(language, text).findAll({ rule: { kind: 'ERROR' } });
  const byteAt = (index: number): number => Buffer.byteLength(text.slice(0, index));
  return errors.map(node => {
    const { start, end } = node.range();
    return [byteAt(start.index), byteAt(end.index)];
  });
}

function has(ranges: readonly ByteRange[], [start, end]: ByteRange): boolean {
  return ranges.some(range => range[0] === start && range[1] === end);
}

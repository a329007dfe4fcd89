import { Buffer } from 'node:buffer';
import * as fs from 'node:fs';
import { languageOf } from '../../src/agent/tools/ast/languages.ts';
import type { Structure } from '../../src/agent/tools/ast/structure.ts';
import { cliErrors, type ByteRange } from './astGrepCli.ts';

/** What the two parsers could not make sense of in the same bytes. */
export interface Disagreement {
  /** Pieces with syntax errors, as the program and as the engine's package see them. */
  readonly program: number;
  readonly engine: number;
  /** The line (1-based) of the first piece that only one of them has, or that ends elsewhere. */
  readonly line: number;
}

/**
 * How the program's tree of a file differs from the engine's; `undefined` where both see the same syntax errors, or none.
 *
 * Both have the same version and the same grammars, but the program hands tree-sitter UTF-8 and the package UTF-16. Where
 * code does not fit the grammar, tree-sitter weighs what it could skip by its bytes, of which UTF-16 has twice as many, and
 * may go on in another way. What fits the grammar has one tree.
 */
export async function disagreementOn(structure: Structure, file: string): Promise<Disagreement | undefined> {
  const text = fs.readFileSync(file, 'utf8');
  const program = await cliErrors(file);
  const engine = engineErrors(structure, languageOf(file)?.id ?? 'TypeScript', text);
  const first = [...program, ...engine]
    .filter(range => !(has(program, range) && has(engine, range)))
    .reduce((least, [start]) => Math.min(least, start), Infinity);
  if (first === Infinity) return undefined;
  const line = Buffer.from(text).subarray(0, first).toString().split('\n').length;
  return { program: program.length, engine: engine.length, line };
}

function engineErrors(structure: Structure, language: string, text: string): ByteRange[] {
  const errors = structure.parse(language, text).findAll({ rule: { kind: 'ERROR' } });
  const byteAt = (index: number): number => Buffer.byteLength(text.slice(0, index));
  return errors.map(node => {
    const { start, end } = node.range();
    return [byteAt(start.index), byteAt(end.index)];
  });
}

function has(ranges: readonly ByteRange[], [start, end]: ByteRange): boolean {
  return ranges.some(range => range[0] === start && range[1] === end);
}

import * as fs from 'node:fs';
import * as path from 'node:path';
import { bytesOfSide } from '../../src/agent/preview/fileChange.ts';
import type { AstEngine } from '../../src/agent/tools/ast/worker/client.ts';
import { cliUpdate } from './astGrepCli.ts';

export interface Rewrite {
  readonly shape: string;
  readonly pat: string;
  readonly out: string;
}

/** Rewrites of various shapes. */
export const rewrites: readonly Rewrite[] = [
  { shape: 'call with any arguments', pat: 'console.log($$$A)', out: 'logger.info($$$A)' },
  { shape: 'method call', pat: '$A.push($B)', out: '$A.add($B)' },
  { shape: 'condition and call', pat: '$A && $A()', out: '$A?.()' },
  { shape: 'declaration, its semicolon left alone', pat: 'let $A = $B', out: 'var $A = $B' },
  { shape: 'if, its else left alone', pat: 'if ($A) { $$$B }', out: 'when ($A) {\n  $$$B\n}' },
  {
    shape: 'arrow function to block, lines captured',
    pat: '($$$P) => $B',
    out: 'function ($$$P) {\n  return $B\n}',
  },
  { shape: 'statement wrapped, deeper indentation', pat: 'return $A', out: 'return wrap(\n    $A,\n  )' },
  { shape: 'deletion', pat: 'debugger', out: '' },
  { shape: 'deletion of a call', pat: 'Object.freeze($$$A)', out: '' },
  { shape: 'import', pat: "import { $$$N } from '$M'", out: "import {\n  $$$N\n} from '$M'" },
  {
    shape: 'class with members',
    pat: 'class $C extends $D { $$$M }',
    out: 'class $C {\n  base = $D\n  $$$M\n}',
  },
  { shape: 'same variable twice', pat: '$A === $A', out: 'same($A)' },
  { shape: 'ternary, lines captured', pat: '$A ? $B : $C', out: 'pick(\n  $A,\n  () => $B,\n  () => $C\n)' },
  { shape: 'variables between arguments', pat: 'new Map<$$$T>($$$A)', out: 'makeMap<$$$T>($$$A)' },
  { shape: 'ellipsis in the middle', pat: 'foo($A, $$$B, $C)', out: 'foo($C, $$$B, $A)' },
  { shape: 'switch', pat: 'switch ($A) { $$$C }', out: 'match ($A) {\n$$$C\n}' },
  {
    shape: 'text in the rewrite that looks like a variable',
    pat: 'typeof $A',
    out: "kind($A, $, $a, $$, $1A, '$100', $$A)",
  },
  { shape: 'two variables in one line', pat: '$A.then($B, $C)', out: '$A.then($B).catch($C)' },
  { shape: 'type', pat: 'type $T = $U', out: 'interface $T extends $U {}' },
  { shape: 'export', pat: 'export const $A = $B', out: 'const $A = $B\nexport { $A }' },
];

/** The result of one comparison. */
export interface Comparison {
  /** The number of files that the CLI changed. */
  readonly changed: number;
  readonly replacements: number;
  /** Files that differ, relative to the folder, and the first line (1-based) in which they do. */
  readonly different: readonly { readonly name: string; readonly line: number }[];
}

/**
 * Rewrites all files in `folder` in memory and a copy of the folder with the ast-grep CLI, then compares all files byte for
 * byte.
 */
export async function compare(
  engine: AstEngine,
  folder: string,
  copy: string,
  { pat, out }: Pick<Rewrite, 'pat' | 'out'>,
): Promise<Comparison> {
  const staged = new Map<string, Uint8Array>();
  let replacements = 0;
  await engine.run(
    {
      ops: [{ pat, out }],
      roots: [{ folder: slashed(folder), prefix: '', paths: [''], exclude: [] }],
      inMemory: [],
    },
    {
      onFiles(files) {
        for (const { path: name, found, matches } of files) {
          replacements += matches;
          if (found.kind === 'edits') staged.set(name, bytesOfSide(found.after));
        }
      },
    },
    new AbortController().signal,
  );
  fs.rmSync(copy, { recursive: true, force: true });
  fs.cpSync(folder, copy, { recursive: true });
  await cliUpdate(pat, out, copy);
  let changed = 0;
  const different: { name: string; line: number }[] = [];
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = path.join(entry.parentPath, entry.name);
    const name = slashed(path.relative(folder, file));
    const before = fs.readFileSync(file);
    const theirs = fs.readFileSync(path.join(copy, name));
    if (!before.equals(theirs)) changed++;
    const ours = staged.get(name) ?? before;
    if (!theirs.equals(ours)) different.push({ name, line: firstDifferentLine(theirs, ours) });
  }
  return { changed, replacements, different };
}

function firstDifferentLine(a: Uint8Array, b: Uint8Array): number {
  let line = 1;
  for (let at = 0; at < a.length && a[at] === b[at]; at++) if (a[at] === 0x0a) line++;
  return line;
}

function slashed(file: string): string {
  return file.replaceAll('\\', '/');
}

import * as fs from 'node:fs';
import * as path from 'node:path';
import type { AstGrepNapi } from '../../src/agent/session/tools/ast/engine/astGrepNapi.ts';
import type { AstEngine } from '../../src/agent/session/tools/ast/worker/client.ts';
import type { AstFile } from '../../src/agent/session/tools/ast/worker/protocol.ts';
import { cliUpdate } from './astGrepCli.ts';
import { requestFor } from './engine.ts';
import { plainSource, type PlainSource } from './plainSources.ts';

export interface Rewrite {
  readonly shape: string;
  readonly pat: string;
  readonly selector?: string;
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
  /** Files with replacements that mix line endings or indentations, so that they cannot be compared. */
  readonly mixed: readonly string[];
}

/**
 * Rewrites all files in `folder` in memory, and a copy of their plain forms (see {@link PlainSource}) with the ast-grep CLI.
 * Then compares all files byte for byte.
 */
export async function compare(
  engine: AstEngine,
  napi: AstGrepNapi,
  folder: string,
  copy: string,
  { pat, selector, out }: Omit<Rewrite, 'shape'>,
): Promise<Comparison> {
  const staged = new Map<string, string>();
  let replacements = 0;
  const onFiles = (files: readonly AstFile[]): void => {
    for (const { path: name, found, matches } of files) {
      replacements += matches;
      if (found.kind === 'edits') staged.set(name, found.after.text);
    }
  };
  await engine.run(
    { ...requestFor(folder, pat, out), ops: [{ pat, selector, out }] },
    { onFiles },
    new AbortController().signal,
  );
  fs.rmSync(copy, { recursive: true, force: true });
  const sources = writePlain(napi, folder, copy, out);
  for (const [group, each] of new Map([...sources.values()].map(plain => [plain.group, plain.out])))
    await cliUpdate(pat, each, path.join(copy, group), selector);
  let changed = 0;
  const different: { name: string; line: number }[] = [];
  for (const [name, { group, before, text, restore }] of sources) {
    const theirs = fs.readFileSync(path.join(copy, group, name), 'utf8');
    if (theirs !== text) changed++;
    const [expected, ours] = [restore(theirs), staged.get(name) ?? before];
    const [left, right] = [expected, ours].map(each => each.replace(/^\ufeff/, ''));
    if (left !== right) different.push({ name, line: firstDifferentLine(left ?? '', right ?? '') });
  }
  return { changed, replacements, different, mixed: [...staged.keys()].filter(name => !sources.has(name)) };
}

type Written = PlainSource & { readonly group: string; readonly before: string };

/** Writes the plain forms of a folder's files, those with the same rewrite into the same folder of the copy. */
function writePlain(napi: AstGrepNapi, folder: string, copy: string, out: string): Map<string, Written> {
  const sources = new Map<string, Written>();
  const groups: string[] = [];
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = path.join(entry.parentPath, entry.name);
    const name = slashed(path.relative(folder, file));
    const before = fs.readFileSync(file, 'utf8');
    const plain = plainSource(napi, name, before, out);
    if (!plain) continue;
    if (!groups.includes(plain.out)) groups.push(plain.out);
    const group = String(groups.indexOf(plain.out));
    const target = path.join(copy, group, name);
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.writeFileSync(target, plain.text);
    sources.set(name, { ...plain, group, before });
  }
  return sources;
}

function firstDifferentLine(a: string, b: string): number {
  let line = 1;
  for (let at = 0; at < a.length && a[at] === b[at]; at++) if (a[at] === '\n') line++;
  return line;
}

function slashed(file: string): string {
  return file.replaceAll('\\', '/');
}

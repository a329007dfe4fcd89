import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';

const IMPORT = /^(?:import|export)\b[^;]*?\sfrom '(\.[^']+)';/gm;

/** The files of the source, each with those that it imports, also for types alone. What is loaded later with `import()` is left out. */
function importsOf(folder: string): ReadonlyMap<string, readonly string[]> {
  const files = fs
    .readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts'));
  return new Map(
    files.map(file => {
      const at = path.join(folder, file);
      const imported = Array.from(fs.readFileSync(at, 'utf8').matchAll(IMPORT), ([, to = '']) => to);
      return [at, imported.map(to => path.join(path.dirname(at), to))];
    }),
  );
}

/** A circle of imports, from a file back to itself; `undefined` if there is none. */
function circleIn(imports: ReadonlyMap<string, readonly string[]>): readonly string[] | undefined {
  const done = new Set<string>();
  const find = (file: string, above: readonly string[]): readonly string[] | undefined => {
    const at = above.indexOf(file);
    if (at >= 0) return [...above.slice(at), file];
    if (done.has(file)) return undefined;
    for (const imported of imports.get(file) ?? []) {
      const circle = find(imported, [...above, file]);
      if (circle) return circle;
    }
    done.add(file);
    return undefined;
  };
  for (const file of imports.keys()) {
    const circle = find(file, []);
    if (circle) return circle;
  }
  return undefined;
}

test('a circle of imports is found', () => {
  const imports = new Map([
    ['a', ['b']],
    ['b', ['c', 'd']],
    ['d', ['b']],
  ]);
  assert.deepEqual(circleIn(imports), ['b', 'd', 'b']);
});

test('no file of the source imports itself through others', () => {
  const imports = importsOf('src');
  assert.ok(Array.from(imports.values()).flat().length > 1_000, 'imports are read');
  assert.equal(circleIn(imports)?.join(' → '), undefined);
});

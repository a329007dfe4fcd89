import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { FLOORS, forbiddenImport } from '../../scripts/lib/floors.mjs';

const root = path.join(import.meta.dirname, '..', '..');

/** The files of src that each of them imports, types too, and also on first use. */
function importsOfSource(): Map<string, string[]> {
  return new Map(
    globSync('src/**/*.ts', { cwd: root }).map(file => {
      const text = readFileSync(path.join(root, file), 'utf8');
      const named = [...text.matchAll(/(?:from |import\()'(\.[^']+)'/g)].map(([, to = '']) => to);
      return [file, named.map(to => path.join(path.dirname(file), to))];
    }),
  );
}

/** The files of one circle, in the order of their imports; `undefined` if there is none. */
function circleIn(graph: ReadonlyMap<string, readonly string[]>): readonly string[] | undefined {
  const done = new Set<string>();
  const follow = (file: string, trail: readonly string[]): readonly string[] | undefined => {
    if (trail.includes(file)) return [...trail.slice(trail.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const next of graph.get(file) ?? []) {
      const circle = follow(next, [...trail, file]);
      if (circle) return circle;
    }
    done.add(file);
    return undefined;
  };
  for (const file of graph.keys()) {
    const circle = follow(file, []);
    if (circle) return circle;
  }
  return undefined;
}

test('no file of src imports itself by way of others', () => {
  const graph = importsOfSource();
  assert.ok(graph.get('src/extension.ts')?.includes(path.join('src', 'views', 'agent.ts')));
  assert.equal(circleIn(graph)?.join(' → '), undefined);
});

test('a circle is found, however long', () => {
  const graph = new Map([
    ['a', ['b', 'c']],
    ['b', ['c']],
    ['c', ['d']],
    ['d', ['b']],
  ]);
  assert.deepEqual(circleIn(graph), ['b', 'c', 'd', 'b']);
  assert.equal(circleIn(new Map([...graph, ['d', []]])), undefined);
});

test('an import goes down, and only through the port between two rooms', () => {
  const preview = 'src/agent/hold/preview/preview.ts';
  const session = 'src/agent/session/session.ts';
  assert.equal(forbiddenImport(session, preview), undefined);
  assert.match(forbiddenImport(preview, session) ?? '', /imports go down/);
  assert.match(forbiddenImport(session, 'src/views/ctx.ts') ?? '', /imports go down/);
  assert.equal(forbiddenImport('src/views/review/sessionPort.ts', session), undefined);
  assert.match(forbiddenImport('src/views/review/showDiff.ts', session) ?? '', /Only .*sessionPort/);
  assert.match(
    forbiddenImport('src/views/review/showDiff.ts', 'src/views/chat/protocol.ts') ?? '',
    /nothing/,
  );
});

test('every room of the linter is a folder', () => {
  for (const floor of FLOORS) assert.ok(existsSync(path.join(root, floor)), floor);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolvePart } from '../../../src/agent/hold/preview/resolve/resolvePart.ts';
import { createApi, type ApiParts, type PreviewInfo, type RedlineApi } from '../../../src/views/api.ts';
import { typeErrors } from './blocks.ts';
import { parsePage, read } from '../../support/docs/pages.ts';
import { createTestSession } from '../../support/testSession.ts';

type Propose = (path: string, before: string, after: string) => Promise<unknown>;

/** Runs the example of docs/api.md with a stand-in for VS Code that has the real API. */
function exampleWith(api: RedlineApi): Propose {
  const [example] = parsePage('docs/api.md', read('docs/api.md')).blocks.filter(
    ({ language }) => language === 'js',
  );
  const vscode = {
    extensions: {
      getExtension: (id: string) => (id === 'redline.redline' ? { activate: async () => api } : undefined),
    },
  };
  const exported: { propose?: Propose } = {};
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the code of the page is what is tested
  const run = new Function('require', 'exports', example?.code ?? '') as (
    require: (name: string) => unknown,
    exports: object,
  ) => void;
  run(name => (name === 'vscode' ? vscode : assert.fail(name)), exported);
  return exported.propose ?? assert.fail('the example exports nothing');
}

/** The example, its session, and what it proposes for `a.txt`. Settles when that is staged. */
async function proposing(before: string, after: string) {
  const t = createTestSession({ files: { 'a.txt': before } });
  const api = createApi({
    ...t,
    settings: t.settings as unknown as ApiParts['settings'],
    workspace: { pathOf: input => input },
    customTools: { register: () => assert.fail('not used here') },
  });
  const decided = exampleWith(api)('a.txt', before, after);
  const { id } = await new Promise<PreviewInfo>(resolve => {
    const subscription = api.previews.onDidChange(preview => {
      subscription.dispose();
      resolve(preview);
    });
  });
  assert.equal(t.workspace.text('a.txt'), before);
  return { t, api, id, decided };
}

for (const [action, outcome, expected] of [
  ['apply', 'applied', 'b'],
  ['discard', 'discarded', 'a'],
] as const)
  test(`the example of docs/api.md proposes a change, and is told that it was ${outcome}`, async () => {
    const { t, api, decided } = await proposing('a', 'b');
    await api.previews.resolve({ action, reason: 'r' });
    assert.deepEqual(await decided, [{ outcome, actor: 'extension', reason: 'r' }]);
    assert.equal(t.workspace.text('a.txt'), expected);
  });

test('the example of docs/api.md is told of each part that was decided by itself', async () => {
  const between = 'x\n'.repeat(20);
  const { t, id, decided } = await proposing(`1\n${between}2\n`, `one\n${between}two\n`);
  const vote = { id, revision: 1, reason: 'This one.', actor: 'human' } as const;
  await resolvePart(t, { ...vote, action: 'apply' }, { path: 'a.txt', hunk: 0 });
  await t.invoker.resolve({ ...vote, revision: 2, action: 'discard', reason: 'Not that one.' });
  assert.deepEqual(await decided, [
    { outcome: 'applied', actor: 'human', reason: 'This one.' },
    { outcome: 'discarded', actor: 'human', reason: 'Not that one.' },
  ]);
  assert.equal(t.workspace.text('a.txt'), `one\n${between}2\n`);
});

test('the types of docs/api.md are those of what the extension returns', () => {
  const imports = `import type { RedlineApi as Real } from '../../src/views/api.ts';
import type { RedlineApi } from './redline-api.d.ts';\n`;
  assert.deepEqual(
    typeErrors({ code: `${imports}export const shown = (real: Real): RedlineApi => real;` }),
    [],
  );
  const wrong = "export const shown = (real: Real): Omit<RedlineApi, 'version'> & { version: 2 } => real;";
  assert.match(typeErrors({ code: imports + wrong }).join('\n'), /version/);
});

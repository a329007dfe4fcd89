import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createApi, type ApiParts, type RedlineApi } from '../../../src/views/api.ts';
import { typeErrors } from '../../support/docs/blocks.ts';
import { parsePage, read } from '../../support/docs/pages.ts';
import { createTestSession } from '../../support/testSession.ts';

type Propose = (path: string, before: string, after: string) => Promise<string>;

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

for (const [action, state, expected] of [
  ['apply', 'applied', 'b'],
  ['discard', 'discarded', 'a'],
] as const)
  test(`the example of docs/api.md proposes a change, and is told that it was ${state}`, async () => {
    const t = createTestSession({ files: { 'a.txt': 'a' } });
    const api = createApi({
      ...t,
      settings: t.settings as unknown as ApiParts['settings'],
      workspace: { pathOf: input => input },
      customTools: { register: () => assert.fail('not used here') },
    });
    const proposed = exampleWith(api)('a.txt', 'a', 'b');
    await new Promise<void>(resolve => {
      const subscription = api.previews.onDidChange(() => {
        subscription.dispose();
        resolve();
      });
    });
    assert.equal(t.workspace.text('a.txt'), 'a');
    await api.previews.resolve({ action, reason: 'r' });
    assert.equal(await proposed, state);
    assert.equal(t.workspace.text('a.txt'), expected);
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

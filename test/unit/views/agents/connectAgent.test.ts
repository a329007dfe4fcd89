import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test, type TestContext } from 'node:test';
import { agentHolds } from '../../../../src/agent/clients/setUp/agentHolds.ts';
import { Overlay } from '../../../../src/agent/hold/preview/overlay.ts';
import type { Ctx } from '../../../../src/views/ctx.ts';
import { createTestSession } from '../../../support/testSession.ts';
import { TempFolder } from '../../../support/tempFolder.ts';
import * as stub from '../../../support/fuzz/vscodeStub.ts';

stub.useVscodeStub();
const { connectAgent } = await import('../../../../src/views/agents/connectAgent.ts');

/** A window on an empty folder, and a folder of programs that is alone on the path. */
async function opened(t: TestContext) {
  const temp = await TempFolder.create();
  const { PATH } = process.env;
  t.after(async () => {
    process.env['PATH'] = PATH;
    await temp.remove();
  });
  process.env['PATH'] = await temp.folder('bin');
  const { store, invoker, workspace, ...rest } = createTestSession({ files: {} });
  const ctx = {
    ...rest,
    store,
    invoker,
    l10n: stub.l10n,
    globalStorage: stub.Uri.file(temp.at('storage')),
    workspace: Object.assign(workspace, { folders: () => [{ name: 'w', fsPath: temp.at('w') }] }),
    overlay: new Overlay(store),
    opener: { open: () => Promise.resolve() },
    settings: { setAgentsEnabled: () => Promise.resolve() },
  } as unknown as Ctx;
  /** A program that prints a version. */
  const install = (name: string, version: string): void => {
    const [file, text] =
      process.platform === 'win32'
        ? [`${name}.cmd`, `@echo ${version}\r\n`]
        : [name, `#!/bin/sh\necho "${version}"\n`];
    fs.writeFileSync(path.join(temp.at('bin'), file), text, { mode: 0o755 });
  };
  return { ctx, store, install };
}

test('agents that can be held are connected, those on the path are started, and of any other it is said that it still writes', async t => {
  const { ctx, install } = await opened(t);
  for (const name of ['claude', 'gemini']) install(name, '1.0.0');
  const offered: { label: string; detail: string }[] = [];
  const shown: unknown[] = [];
  Object.assign(stub.window, {
    showQuickPick: (items: typeof offered) => {
      offered.push(...items);
      return Promise.resolve(items.at(-1));
    },
    showTextDocument: (document: unknown) => Promise.resolve(shown.push(document)),
    showInformationMessage: (...given: unknown[]) => Promise.resolve(void shown.push(given)),
  });
  Object.assign(stub.workspace, {
    openTextDocument: ({ content }: { content: string }) => Promise.resolve(content),
  });
  assert.equal(await connectAgent(ctx, []), undefined);
  assert.deepEqual(
    offered.map(({ label }) => label),
    [
      ...['Start Claude Code Here', 'Start Gemini CLI Here'],
      ...['Connect Claude Code', 'Connect Codex', 'Connect opencode', 'Connect VS Code’s own agents'],
      'Connect Another…',
    ],
  );
  assert.equal(offered.at(-1)?.detail, 'Its own tools still write.');
  const [steps, toast] = shown;
  assert.match(String(steps), /"mcpServers": \{\s*"redline"/);
  assert.deepEqual(toast, [
    'Its own tools still write. In an agent terminal, all that it writes waits for you.',
    'Open Agent Terminal',
  ]);
});

test('a version that is newer than the one that was tried is marked on the card', async t => {
  const { ctx, store, install } = await opened(t);
  const tried = agentHolds.find(({ name }) => name === 'Codex')?.version ?? assert.fail();
  const mark = `Yours is newer than the version that this was tried with, ${tried}.`;
  for (const [version, isMarked] of [
    [undefined, false],
    [tried, false],
    [`${Number(tried.split('.')[0]) + 1}.0.0`, true],
  ] as const) {
    if (version !== undefined) install('codex', `codex-cli ${version}`);
    const id = (await connectAgent(ctx, ['codex'])) ?? assert.fail();
    const { details, revision } = store.get(id) ?? assert.fail();
    assert.equal(String(details).includes(mark), isMarked, String(details));
    await ctx.invoker.resolve({ id, revision, action: 'discard', reason: '', actor: 'human' });
  }
});

test('a second click on Connect finds the card of the first, also while the agent is asked for its version', async t => {
  const { ctx, store, install } = await opened(t);
  install('codex', 'codex-cli 1.0.0');
  const ids = await Promise.all([connectAgent(ctx, ['codex']), connectAgent(ctx, ['codex'])]);
  assert.deepEqual(ids, ['p1', 'p1']);
  assert.equal(store.all().length, 1);
});

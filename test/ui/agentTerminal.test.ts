/** Agents that know nothing of Redline work in terminals, by `sed` and by a script: what they write waits as previews. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { inRepo } from '../../scripts/lib/paths.mjs';
import { exactLens } from './support/diffPage.ts';
import { drivenTest } from './support/drivenWorkbench.ts';

const CART = 'let total = 1;\n\nlet price = 4;\n\nlet count = 2;\n';
/** Edits by `sed`, and goes on with the same file once it has heard of a refusal. */
const CLAUDE = `#!/bin/sh
sed -i s/total/sum/ cart.ts
printf '# Notes\\n' > notes.md
until grep -q 'Keep the name' REDLINE.md; do sleep 0.2; done
grep -o 'Keep the name' REDLINE.md > heard.txt
cp cart.ts seen.txt
sed -i s/total/amount/ cart.ts
`;
/** Edits by a script. */
const CODEX = `#!/bin/sh
node -e 'fs.writeFileSync("cart.ts", fs.readFileSync("cart.ts", "utf8").replace("count = 2", "count = 3"))'
read -r line
`;

drivenTest(
  'two agents write one file in terminals of their own: their change sets wait in one tree, a refusal reaches the agent, and nothing is lost',
  { pictures: inRepo('out', 'surface-pictures'), viewport: { width: 1400, height: 900 } },
  async driven => {
    const { workbench } = driven;
    workbench.writeFile('cart.ts', CART);
    for (const [name, script] of [
      ['claude', CLAUDE],
      ['codex', CODEX],
    ] as const) {
      workbench.writeFile(`bin/${name}`, script);
      fs.chmodSync(path.join(workbench.workspace, 'bin', name), 0o755);
    }
    const read = (name: string): string => fs.readFileSync(path.join(workbench.workspace, name), 'utf8');
    await workbench.openRedlineChat();
    const ports = (): Promise<number> =>
      driven.run(() => process.getActiveResourcesInfo().filter(each => each === 'TCPServerWrap').length);
    const listening = await ports();
    const start = (name: string): Promise<unknown> =>
      driven.run(
        async ({ vscode }, program) => {
          await vscode.commands.executeCommand('redline.agents.openTerminal', program);
        },
        path.join(workbench.workspace, 'bin', name),
      );
    await start('claude');
    await workbench.treeRow('cart.ts, notes.md').waitFor();
    await start('codex');
    await workbench.treeRow('Claude Code').waitFor();
    await workbench.treeRow('Codex').waitFor();
    for (const name of ['Claude Code', 'Codex'])
      await workbench.chatFrame().getByText(`Proposed by ${name}`).waitFor();
    assert.equal(await ports(), listening, 'an agent terminal needs no server');
    await workbench.picture('agent-terminals');
    assert.equal(read('cart.ts'), CART);
    assert.equal(fs.existsSync(path.join(workbench.workspace, 'notes.md')), false);
    await driven.run(async ({ vscode }) => {
      await vscode.commands.executeCommand('redline.preview.discard', 'p1', 'Keep the name.');
    });
    // It has heard of it, and sees the file as it is on disk.
    await driven.until('what it wrote then', ({ api }) =>
      api.previews.list().some(({ id, state }) => id === 'p3' && state === 'pending'),
    );
    assert.equal(read('cart.ts'), CART);
    await driven.run(async ({ vscode }) => {
      await vscode.commands.executeCommand('redline.preview.open', 'p2');
    });
    await exactLens(workbench, 'Apply').waitFor();
    await workbench.picture('agent-terminals-one-file');
    const shown = await driven.run(
      ({ api }) => api.previews.list().find(({ id }) => id === 'p3')?.revision ?? 0,
    );
    await exactLens(workbench, 'Apply').click();
    await workbench.waitForFile('cart.ts', text => text === CART.replace('2', '3'));
    // Until the other preview of the file is on top of that, it is not what would land.
    await driven.until(
      'the other preview on top of what was applied',
      ({ api }, before) => api.previews.list().some(({ id, revision }) => id === 'p3' && revision > before),
      shown,
    );
    await driven.run(async ({ vscode }) => {
      await vscode.commands.executeCommand('redline.preview.apply', 'p3');
    });
    await workbench.waitForFile('heard.txt', text => text === 'Keep the name\n');
    assert.equal(read('seen.txt'), CART);
    assert.equal(read('cart.ts'), CART.replace('2', '3').replace('total', 'amount'));
    await driven.run(async ({ vscode }) => {
      for (const terminal of vscode.window.terminals) terminal.dispose();
    });
  },
);

/** Edits, leaves a file, and ends. */
const IN_A_COPY = `#!/bin/sh
sed -i s/total/sum/ cart.ts
printf '# Notes\\n' > notes.md
read -r line
`;

drivenTest(
  'an agent in a copy: what it writes waits, one file is applied, one is discarded, and the folder is as it was elsewhere',
  {
    pictures: inRepo('out', 'surface-pictures'),
    viewport: { width: 1400, height: 900 },
    settings: { 'redline.sandbox.engine': 'copy' },
  },
  async driven => {
    const { workbench } = driven;
    workbench.writeFile('cart.ts', CART);
    workbench.writeFile('bin/claude', IN_A_COPY);
    fs.chmodSync(path.join(workbench.workspace, 'bin', 'claude'), 0o755);
    const before = fs.readdirSync(workbench.workspace).sort();
    await workbench.openRedlineChat();
    await driven.run(
      async ({ vscode }, program) => {
        await vscode.commands.executeCommand('redline.agents.openTerminal', program);
      },
      path.join(workbench.workspace, 'bin', 'claude'),
    );
    await workbench.treeRow('cart.ts, notes.md').waitFor();
    await workbench.page.locator('.terminal-wrapper.active').waitFor();
    await workbench.picture('agent-terminal-copy');
    assert.equal(fs.readFileSync(path.join(workbench.workspace, 'cart.ts'), 'utf8'), CART);
    await driven.run(async ({ vscode, api }) => {
      const [{ id = '' } = {}] = api.previews.list();
      await vscode.commands.executeCommand('redline.preview.discardFile', id, 'notes.md');
      await vscode.commands.executeCommand('redline.preview.apply', id);
    });
    await workbench.waitForFile('cart.ts', text => text === CART.replace('total', 'sum'));
    assert.deepEqual(fs.readdirSync(workbench.workspace).sort(), before);
    await driven.run(async ({ vscode }) => {
      for (const terminal of vscode.window.terminals) terminal.dispose();
    });
  },
);

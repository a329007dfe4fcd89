/** What is held back is run: a proposal is tested, mended and tested again in the sandbox, and only then applied. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { modelTest } from './support/uiTest.ts';

const CODE = 'export const total = items => items.reduce((sum, item) => sum + item.price, 0);\n';
const TEST = `import assert from 'node:assert/strict';
import { total } from './total.mjs';
assert.equal(total([{ price: 2, quantity: 3 }]), 6);
console.log('1 test passed');
`;
const edit = (old: string, to: string) => ({
  toolCalls: [{ name: 'edit_file', arguments: { path: 'total.mjs', edits: [{ old, new: to }] } }],
});
const run = (command: string) => ({ toolCalls: [{ name: 'run_command', arguments: { command } }] });
const TESTS = 'node total.test.mjs';

modelTest(
  'a proposal is tested, mended and tested again in the sandbox while the disk stays as it is, and then applied',
  [
    edit('sum + item.price', 'sum + item.price + item.quantity'),
    run(TESTS),
    { text: 'I proposed it, and wait for the test.' },
    edit('item.price + item.quantity', 'item.price * item.quantity'),
    run(TESTS),
    run(
      'sed -i "s/sum + /sum + 1 * /" total.mjs; echo made > made.txt; mkdir -p node_modules/x; echo y > node_modules/x/y',
    ),
    { text: 'The test passes.' },
    { text: 'Done.' },
    { text: 'Done.' },
    { text: 'Done.' },
  ],
  async (workbench, server) => {
    workbench.writeFile('total.mjs', CODE);
    workbench.writeFile('total.test.mjs', TEST);
    const written = (): number => fs.statSync(path.join(workbench.workspace, 'total.mjs')).mtimeMs;
    const before = written();
    const chat = workbench.chatFrame();
    await workbench.openRedlineChat();
    await workbench.sendChat('Count each item as often as its quantity says.');
    const card = chat.locator('[data-preview-id="p2"]');
    const status = card.getByText(/^In the sandbox: |^In a copy of the workspace|^On disk/);
    await status.waitFor();
    await workbench.picture('sandbox-asks');
    assert.match(
      (await status.textContent()) ?? '',
      /^In the sandbox/,
      'this machine has an isolated sandbox',
    );

    await card.getByRole('button', { name: 'always run commands in the sandbox here' }).click();
    await chat.getByText('The test passes.').waitFor();
    await workbench.picture('sandbox-green');
    const results = server.requests
      .flatMap(({ body }) => body.messages)
      .map(({ content }) => (typeof content === 'string' ? content : ''));
    const ran = results.filter(text => text.includes('It ran in the sandbox'));
    assert.ok(ran.some(text => text.includes('exit code 1') && text.includes('p1 is applied')));
    assert.ok(ran.some(text => text.includes('exit code 0') && text.includes('1 test passed')));
    assert.equal(workbench.readFile('total.mjs'), CODE);
    assert.equal(written(), before);
    assert.equal(workbench.readFile('made.txt'), undefined);

    await workbench.runCommand('Redline: Apply All Previews');
    await workbench.waitForFile('made.txt', text => text === 'made\n');
    assert.match(workbench.readFile('total.mjs') ?? '', /sum \+ 1 \* item\.price \* item\.quantity/);
    await workbench.picture('sandbox-applied');
  },
  { workbench: { settings: { 'redline.resolve.forcing': 'off' }, viewport: { width: 1400, height: 1000 } } },
);

/** Custom tools as a person meets them: what streams into the chat, and what a workspace that is not trusted may do. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import * as path from 'node:path';
import { inRepo } from '../../../scripts/lib/paths.mjs';
import { TempFolder } from '../../support/tempFolder.ts';
import { uiTest } from '../support/uiTest.ts';

const tool = (name: string, body: string): string => `import { existsSync } from 'node:fs';
export default pi => ({
  name: '${name}',
  description: 'Does ${name}.',
  parameters: pi.zod.object({}),
  async execute(id, params, onUpdate) { ${body} },
});
`;

uiTest(
  'what a tool says while it runs streams into the chat; its preview waits there',
  { settings: { 'workbench.hover.delay': 300 } },
  async workbench => {
    workbench.writeFile(
      '.redline/tools/slow.ts',
      tool(
        'slow',
        `onUpdate('Looked at 1 of 2 files');
       while (!existsSync(pi.cwd + '/go')) await new Promise(resolve => setTimeout(resolve, 20));
       pi.pushPendingAction({ label: 'Send 2 letters', details: { to: ['Ada', 'Grace'] }, apply() {} });
       return 'Looked at both.';`,
      ),
    );
    await workbench.openRedlineChat();
    await workbench.sendChat('/call slow');
    const chat = workbench.chatFrame();
    const line = chat.locator('[data-kind="tool"]').filter({ hasText: 'slow' });
    await line.getByText('Looked at 1 of 2 files').waitFor();
    await workbench.screenshot('custom tool running');
    workbench.writeFile('go', '');
    await workbench.chatCard('Send 2 letters').waitFor();
    assert.equal(await line.getByText('Looked at 1 of 2 files').count(), 0, 'it has ended');
    await workbench.screenshot('custom tool staged');
    // Nothing opens any more: the hover stays.
    await workbench.lens('Run').waitFor();
    await workbench.treeRow('Send 2 letters').hover();
    const hover = workbench.page.locator('.monaco-hover').filter({ hasText: '{"to":["Ada","Grace"]}' });
    await hover.waitFor();
    // A picture of the window is taken without hovers.
    await hover.screenshot({ path: inRepo('out', 'ui-failures', 'custom-tool-details.png') });
  },
);

uiTest(
  'a new tool works at once; a fault in another is a problem until it is mended',
  {},
  async workbench => {
    await workbench.runCommand('Redline: New Custom Tool…');
    await workbench.quickPick('workspace');
    await workbench.answerInput('order_lines');
    await workbench.editorTab('order_lines.ts').waitFor();
    await workbench.screenshot('new custom tool');
    assert.match(workbench.readFile('.redline/tools/redline.d.ts') ?? '', /export interface CustomToolApi/);
    workbench.writeFile('list.txt', 'b\na\n');
    workbench.writeFile('.redline/tools/faulty.ts', 'export default pi => {\n  const = 1;\n};\n');
    await workbench.openRedlineChat();
    await workbench.sendChat('/call order_lines {"path": "list.txt"}');
    // It opens beside the tool, whose editor keeps the focus.
    await workbench.treeAction('Sort list.txt', 'Apply Preview');
    await workbench.waitForFile('list.txt', text => text === 'a\nb\n');

    await workbench.runCommand('Problems: Focus on Problems View');
    const problem = workbench.page.locator('.markers-panel').getByText('This tool cannot be imported');
    await problem.waitFor();
    await workbench.screenshot('custom tool problem');
    // Nobody asks for it: the change on disk is noticed.
    workbench.writeFile('.redline/tools/faulty.ts', tool('faulty', `return 'mended';`));
    await problem.waitFor({ state: 'detached' });
  },
);

const home = await TempFolder.create();

uiTest(
  'a workspace that is not trusted: none of its tools is loaded, the chat says why, and trust loads them',
  {
    settings: { 'security.workspace.trust.enabled': true, 'security.workspace.trust.startupPrompt': 'never' },
    env: { HOME: home.root, USERPROFILE: home.root },
  },
  async workbench => {
    try {
      const ran = path.join(home.root, 'ran');
      workbench.writeFile(
        '.redline/tools/theirs.ts',
        `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(ran)}, '');\n${tool('theirs', `return 'theirs ran';`)}`,
      );
      await home.file('.redline/tools/mine.ts', tool('mine', `return 'mine ran';`));
      await workbench.openRedlineChat();
      const chat = workbench.chatFrame();
      const said = (text: string) => chat.locator('[data-kind="assistant"]').filter({ hasText: text });
      await workbench.sendChat('/call theirs');
      await said('There is no tool named theirs.').waitFor();
      await chat
        .getByText('This workspace is not trusted: its custom tools are not loaded (theirs.ts).')
        .waitFor();
      await workbench.sendChat('/call mine');
      await said('mine ran').waitFor();
      await workbench.screenshot('custom tools not trusted');
      assert.equal(existsSync(ran), false, 'not even its top level has run');

      await chat.getByRole('button', { name: 'Manage Workspace Trust' }).click();
      await workbench.page.getByRole('button', { name: 'Trust', exact: true }).click();
      await chat.getByText('This workspace is not trusted').waitFor({ state: 'detached' });
      await workbench.openRedlineChat();
      await workbench.sendChat('/call theirs');
      await said('theirs ran').waitFor();
    } finally {
      await home.remove();
    }
  },
);

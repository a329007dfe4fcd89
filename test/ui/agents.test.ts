import assert from 'node:assert/strict';
import { homedir } from 'node:os';
import { polled } from '../../scripts/lib/limits.mjs';
import { inRepo } from '../../scripts/lib/paths.mjs';
import { openWindows, windowsFolder, type OpenWindow } from '../../src/agent/clients/windowFiles.ts';
import { McpAgent } from '../support/mcpClients.ts';
import { exactLens } from './support/diffPage.ts';
import { drivenTest } from './support/drivenWorkbench.ts';

/** The window that this extension host announces to agents. */
function announced(pid: number): Promise<OpenWindow> {
  return polled('the window to be announced', async () =>
    (await openWindows(windowsFolder(homedir()))).find(each => each.pid === pid),
  );
}

drivenTest(
  'two agents propose at once: the tree groups by agent, cards name it, and a click is told to the one that it concerns',
  { pictures: inRepo('out', 'surface-pictures'), viewport: { width: 1400, height: 900 } },
  async driven => {
    const { workbench } = driven;
    workbench.writeFile('cart.ts', 'let total = 1;\nlet count = 2;\n');
    await workbench.openRedlineChat();
    const pid = await driven.run(async ({ vscode }) => {
      await vscode.workspace.getConfiguration('redline').update('agents.enabled', true, true);
      return process.pid;
    });
    const window = await announced(pid);
    const claude = await McpAgent.to(window, 'Claude Code');
    const codex = await McpAgent.to(window, 'Codex');
    await claude.edit('total = 1', 'total = 100', 'cart.ts');
    await workbench.treeRow('cart.ts:1 1 → 100').waitFor();
    await codex.ok('propose_edit', { path: 'notes.md', content: '# Notes\n' });
    await workbench.treeRow('Claude Code').waitFor();
    await workbench.treeRow('Codex').waitFor();
    const chat = workbench.chatFrame();
    await chat.getByText('Proposed by Claude Code 1.0').waitFor();
    await chat.getByText('Proposed by Codex 1.0').waitFor();
    await driven.run(async ({ vscode }) => {
      await vscode.commands.executeCommand('redline.preview.open', 'p1');
    });
    await exactLens(workbench, 'Apply').waitFor();
    await workbench.picture('agents');
    await exactLens(workbench, 'Apply').click();
    await workbench.waitForFile('cart.ts', text => text?.startsWith('let total = 100;') === true);
    assert.match(await claude.ok('status'), /^Since your last call:\nThe user applied p1 /);
    assert.match(await codex.ok('status'), /^Pending:\n- p2 /);
    await claude.client.close();
    await codex.client.close();
  },
);

drivenTest(
  'connecting an agent shows what is written where before anything is, and its Apply is followed by what to do next',
  { pictures: inRepo('out', 'surface-pictures'), viewport: { width: 1400, height: 900 } },
  async ({ workbench }) => {
    workbench.writeFile(
      '.claude/settings.local.json',
      '{\n  "permissions": {\n    "allow": ["Bash(npm run:*)"],\n    "deny": ["Edit"]\n  }\n}\n',
    );
    await workbench.runCommand('Redline: Connect an Agent…');
    await workbench.page
      .locator('.quick-input-list .monaco-list-row')
      .filter({ hasText: 'Connect Another…' })
      .waitFor();
    await workbench.picture('agents-connect-pick');
    await workbench.quickPick('Connect Claude Code');
    await workbench.lens('Apply').first().waitFor();
    await workbench.page.getByText('"mcpServers"').first().waitFor();
    await workbench.picture('agents-connect-preview');
    await workbench.openRedlineChat();
    await workbench
      .chatFrame()
      .getByText('The shell of Claude Code can still write what you approve, such as a script')
      .filter({ hasText: 'Your own rules let its shell write without a question: Bash(npm run:*).' })
      .waitFor();
    await workbench.picture('agents-connect-card');
    assert.equal(workbench.readFile('.mcp.json'), undefined);
    await workbench.runCommand('Redline: Apply Preview');
    await workbench.waitForFile('.mcp.json', text => text?.includes('redline-mcp.cjs') === true);
    await workbench.toast('Applied: Connect Claude Code.').waitFor();
    await workbench.picture('agents-connected');
  },
);

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { inRepo } from '../../scripts/lib/paths.mjs';
import { GeminiClient } from '../support/companionClients.ts';
import { exactLens } from './support/diffPage.ts';
import { drivenTest } from './support/drivenWorkbench.ts';

const LINES = Array.from({ length: 30 }, (_, i) => `line ${i + 1}\n`).join('');

/** Connects as Gemini CLI to the window whose extension host has this process id. */
async function connect(pid: number): Promise<GeminiClient> {
  const folder = path.join(tmpdir(), 'gemini', 'ide');
  for (let attempt = 0; attempt < 200; attempt++) {
    for (const name of namesIn(folder)) {
      const word = JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as {
        pid: number;
        port: number;
        authToken: string;
      };
      if (word.pid === pid) return GeminiClient.to(word.port, word.authToken);
    }
    // An agent learns of the window in no other way than by looking.
    await delay(50);
  }
  return assert.fail('nothing was left for the agent');
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter(name => name.endsWith('.json'));
  } catch {
    return [];
  }
}

drivenTest(
  'a hunk of a diff of Gemini CLI waits for the rest, which a click sends; what it writes otherwise has expired',
  { pictures: inRepo('out', 'surface-pictures'), viewport: { width: 1400, height: 900 } },
  async driven => {
    const { workbench } = driven;
    workbench.writeFile('lines.txt', LINES);
    await workbench.openRedlineChat();
    const { pid, file } = await driven.run(async ({ vscode }) => {
      await vscode.workspace.getConfiguration('redline').update('agents.companions', ['gemini'], true);
      const [folder] = vscode.workspace.workspaceFolders ?? [];
      return { pid: process.pid, file: vscode.Uri.joinPath(folder?.uri as never, 'lines.txt').fsPath };
    });
    const agent = await connect(pid);
    const proposed = LINES.replace('line 3\n', 'LINE 3\n').replace('line 27\n', 'LINE 27\n');
    await agent.openDiff(file, proposed);
    const chat = workbench.chatFrame();
    await chat.getByText('Proposed by Gemini CLI').first().waitFor();
    const open = (id: string): Promise<void> =>
      driven.run(async ({ vscode }, given: string) => {
        await vscode.commands.executeCommand('redline.preview.open', given);
      }, id);
    await open('p1');
    await exactLens(workbench, 'Apply hunk').first().waitFor();
    await workbench.picture('companion-proposed');
    await exactLens(workbench, 'Apply hunk').first().click();
    await chat.getByText('Applied with the rest of this diff, once you have decided on it').first().waitFor();
    await workbench.picture('companion-held');
    assert.equal(readFileSync(file, 'utf8'), LINES);
    await open('p1');
    await exactLens(workbench, 'Apply').first().click();
    assert.equal(await agent.accepted(), proposed);
    workbench.writeFile('lines.txt', 'something else\n');
    await workbench.treeRow('Expired (2)').waitFor();
    await workbench.picture('companion-mismatch');
    await agent.close();
  },
);

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { english } from '../../../../src/agent/base/localiser.ts';
import { claudeGrants, grantsText, isNewer } from '../../../../src/agent/clients/setUp/ownGrants.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

test('what lets a connected Claude Code write is named: rules of the user and servers of others, wherever they stand', async t => {
  const temp = await TempFolder.create();
  t.after(() => temp.remove());
  const [home, folder] = [await temp.folder('home'), await temp.folder('work')];
  assert.deepEqual(grantsText(await claudeGrants(folder, home), english), []);
  await Promise.all(['home/.claude', 'work/.claude'].map(each => temp.folder(each)));
  const files = {
    'work/.claude/settings.local.json': {
      permissions: { allow: ['mcp__redline', 'Bash(npm run:*)', 'Read(**)', 7] },
    },
    'work/.claude/settings.json': { permissions: 'none' },
    'home/.claude/settings.json': { permissions: { allow: ['Bash', 'Bash(npm run:*)'] } },
    'work/.mcp.json': { mcpServers: { redline: {}, files: {} } },
    'home/.claude.json': { mcpServers: { notes: {} }, projects: { [folder]: { mcpServers: { local: {} } } } },
  };
  for (const [name, value] of Object.entries(files)) await writeFile(temp.at(name), JSON.stringify(value));
  assert.deepEqual(grantsText(await claudeGrants(folder, home), english), [
    'Your own rules let its shell write without a question: Bash(npm run:*), Bash.',
    'What these MCP servers write is not held: files, notes, local.',
  ]);
  const many = Array.from({ length: 7 }, (_, n) => `s${n}`);
  assert.deepEqual(grantsText({ rules: [], servers: many }, english), [
    'What these MCP servers write is not held: s0, s1, s2, s3, s4, ….',
  ]);
});

test('a program is newer by its numbers, whatever it says around them', () => {
  const newer = ['2.1.332 (Claude Code)', '2.2.0', 'codex-cli 3.0.1', '2.1.331.1'];
  const not = ['2.1.331 (Claude Code)', '2.1.99', '1.9.9', '2.1', 'no version', ''];
  assert.deepEqual(
    [...newer, ...not].filter(told => isNewer(told, '2.1.331')),
    newer,
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hiddenPrograms } from '../../../../src/agent/clients/run/ownPrograms.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

test('what runs by the settings of Claude Code and is not in the view is found, whatever it is for and wherever it is set', async t => {
  const temp = await TempFolder.create();
  t.after(() => temp.remove());
  const names = ['hook.sh', 'line.sh', 'key.sh', 'notes.py', 'notes.db', 'mine.js', 'elsewhere.js'];
  for (const name of names) await temp.file(`home/tools/${name}`);
  const home = temp.at('home');
  const settings = {
    hooks: { PreToolUse: [{ hooks: [{ command: 'sh "$HOME/tools/hook.sh" --all' }] }] },
    statusLine: { command: '~/tools/line.sh' },
    apiKeyHelper: '${HOME}/tools/key.sh',
    model: '~/tools/hook.sh',
  };
  const mcpServers = {
    notes: { command: 'python3', args: [`${home}/tools/notes.py`], env: { DB: '~/tools/notes.db' } },
  };
  const server = (name: string): object => ({ mcpServers: { own: { command: `${home}/tools/${name}` } } });
  const projects = {
    '/code': server('mine.js'),
    '/code/elsewhere': server('elsewhere.js'),
    [home]: server('elsewhere.js'),
  };
  await temp.file('home/.claude/settings.json', JSON.stringify(settings));
  await temp.file('home/.claude.json', JSON.stringify({ mcpServers, projects }));
  const hidden = (...shown: string[]): readonly string[] =>
    hiddenPrograms('claude', home, shown, '/code/deep').map(each => each.slice(`${home}/tools/`.length));
  assert.deepEqual(hidden('/code'), ['hook.sh', 'line.sh', 'key.sh', 'notes.py', 'notes.db', 'mine.js']);
  assert.deepEqual(hidden('/code', temp.at('home/tools')), []);
  assert.deepEqual(hiddenPrograms('codex', home, [], '/code'), []);
});

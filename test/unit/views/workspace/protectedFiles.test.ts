import fs, { promises } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { PreviewStore } from '../../../../src/agent/hold/preview/previewStore.ts';
import { Invoker } from '../../../../src/agent/hold/preview/resolve/invoker.ts';
import type { OwnProtections } from '../../../../src/views/workspace/protectedFiles.ts';
import { create, modify } from '../../../support/changes.ts';
import { DiskWorkspace } from '../../../support/diskWorkspace.ts';
import { draft } from '../../../support/drafts.ts';
import { TempFolder } from '../../../support/tempFolder.ts';
import { MemoryPreviewLog } from '../../../support/testSession.ts';

let temp: TempFolder;
before(async () => {
  temp = await TempFolder.create();
});
after(() => temp.remove());

/** The outcome when the model applies a change in Auto. The file contains `old` or does not exist. */
async function votes(
  folder: string,
  file: string,
  own: Partial<OwnProtections> = {},
): Promise<'executed' | 'recommended'> {
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  const workspace = new DiskWorkspace(temp.at(folder), { alwaysAsk: [], toolPlaces: [], ...own });
  const invoker = new Invoker(store, workspace, () => 'apply');
  const at = temp.at(folder, file);
  const old = await readFile(at, 'utf8').catch(() => null);
  const change = old === null ? create(file, 'new') : modify(file, old, 'new');
  const { id } = store.stage(draft({ changes: [change] })).preview;
  await invoker.resolve({ id, action: 'apply', reason: 'ok', actor: 'model' });
  const now = await readFile(at, 'utf8').catch(() => null);
  const state = store.get(id)?.state;
  if (state?.kind === 'applied') {
    assert.equal(now, 'new');
    return 'executed';
  }
  assert.equal(now, old);
  assert.ok(state?.kind === 'pending' && state.recommendation);
  return 'recommended';
}

/** Files and links on disk, and the file that the model changes; `own` gets the absolute path of the folder around them. */
interface Case {
  readonly files?: readonly string[];
  /** The path and the target of each link. */
  readonly links?: Readonly<Record<string, string>>;
  /** The workspace folder, relative to the folder around everything; by default that folder itself. */
  readonly folder?: string;
  readonly change: string;
  readonly own?: (at: string) => Partial<OwnProtections>;
}

const recommended: Readonly<Record<string, Case>> = {
  'a file that VS Code is set to open read-only': {
    files: ['gen/a.ts'],
    change: 'gen/a.ts',
    own: () => ({ readOnly: { include: ['gen/**'], exclude: ['gen/b.ts'] } }),
  },
  'what AGENTS.md leads to beside it': {
    files: ['NOTES.md'],
    links: { 'AGENTS.md': 'NOTES.md' },
    change: 'NOTES.md',
  },
  'the link AGENTS.md itself': {
    files: ['NOTES.md'],
    links: { 'AGENTS.md': 'NOTES.md' },
    change: 'AGENTS.md',
  },
  'what AGENTS.md of another folder leads to': {
    files: ['docs/agents/all.md'],
    links: { 'packages/a/AGENTS.md': '../../docs/agents/all.md' },
    change: 'docs/agents/all.md',
  },
  'what is not there yet, and AGENTS.md leads to': {
    files: ['docs/x'],
    links: { 'AGENTS.md': 'docs/guide.md' },
    change: 'docs/guide.md',
  },
  'what AGENTS.md leads to by two links': {
    files: ['docs/x'],
    links: { 'AGENTS.md': 'link.md', 'link.md': 'docs/guide.md' },
    change: 'docs/guide.md',
  },
  'a file in what .vscode leads to': {
    files: ['tooling/vscode/settings.json'],
    links: { '.vscode': 'tooling/vscode' },
    change: 'tooling/vscode/settings.json',
  },
  'a new file in a new folder of what .vscode leads to': {
    files: ['tooling/vscode/settings.json'],
    links: { '.vscode': 'tooling/vscode' },
    change: 'tooling/vscode/new/tasks.json',
  },
  'what a link leads to that lies in what .vscode leads to': {
    files: ['common/settings.json', 'tooling/vscode/x'],
    links: { '.vscode': 'tooling/vscode', 'tooling/vscode/settings.json': '../../common/settings.json' },
    change: 'common/settings.json',
  },
  'what a link in a protected folder leads to': {
    files: ['scripts/check.sh'],
    links: { '.husky/pre-commit': '../scripts/check.sh' },
    change: 'scripts/check.sh',
  },
  'what a hook of git leads to': {
    files: ['scripts/check.sh'],
    links: { '.git/hooks/pre-commit': '../../scripts/check.sh' },
    change: 'scripts/check.sh',
  },
  'a file in what a name leads to that folds to .vscode': {
    files: ['tooling/settings.json'],
    links: { '.v\u017Fcode': 'tooling' },
    change: 'tooling/settings.json',
  },
  'a name that folds to .vscode': { change: '.v\u017Fcode/settings.json' },
  'a workspace folder that is .vscode': { folder: '.vscode', change: 'settings.json' },
  'a workspace folder that is .git': { folder: '.git', change: 'hooks/pre-commit' },
  'a workspace folder that is .redline/tools': { folder: '.redline/tools', change: 'a.ts' },
  'a workspace folder in .redline/tools': { folder: '.redline/tools/mine', change: 'src/a.ts' },
  'a workspace folder in what .redline leads to': {
    files: ['dotfiles/tools/mine/a.ts'],
    links: { '.redline': 'dotfiles' },
    folder: 'dotfiles/tools/mine',
    change: 'a.ts',
  },
  'a workspace folder that is a link to .vscode': {
    files: ['.vscode/settings.json'],
    links: { config: '.vscode' },
    folder: 'config',
    change: 'settings.json',
  },
  'what AGENTS.md above the workspace folder leads to': {
    files: ['packages/a/notes.md'],
    links: { 'AGENTS.md': 'packages/a/notes.md' },
    folder: 'packages/a',
    change: 'notes.md',
  },
  'a folder of custom tools': {
    files: ['tools/a.ts'],
    change: 'tools/lib/new.ts',
    own: at => ({ toolPlaces: [`${at}/tools`] }),
  },
  'a file that is a custom tool': {
    files: ['tools/a.ts'],
    change: 'tools/a.ts',
    own: at => ({ toolPlaces: [`${at}/TOOLS/A.ts`] }),
  },
  'a folder of custom tools that the setting names by a link': {
    files: ['tools/a.ts'],
    links: { linked: 'tools' },
    change: 'tools/a.ts',
    own: at => ({ toolPlaces: [`${at}/linked`] }),
  },
  'what a link in a folder of custom tools outside leads to': {
    files: ['project/a.ts'],
    links: { 'home/tools/a.ts': '../../project/a.ts' },
    folder: 'project',
    change: 'a.ts',
    own: at => ({ toolPlaces: [`${at}/home/tools`] }),
  },
  'a glob of the setting': {
    change: 'deploy/prod/a.tf',
    own: () => ({ alwaysAsk: ['deploy/**/*.tf'] }),
  },
  'a folder that a glob of the setting matches': {
    change: 'deploy/prod/a.tf',
    own: () => ({ alwaysAsk: ['src', './deploy/pro*/'] }),
  },
  'a glob of the setting without a slash, anywhere': {
    change: 'db/migrations/1.SQL',
    own: () => ({ alwaysAsk: [' *.sql '] }),
  },
  'what a link leads to that a glob of the setting matches': {
    files: ['live/a.tf'],
    links: { deploy: 'live' },
    change: 'live/a.tf',
    own: () => ({ alwaysAsk: ['deploy/**'] }),
  },
};

const executed: Readonly<Record<string, Case>> = {
  'beside a link AGENTS.md': {
    files: ['NOTES.md', 'OTHER.md'],
    links: { 'AGENTS.md': 'NOTES.md' },
    change: 'OTHER.md',
  },
  'what ordinary links lead to, in circles too': {
    files: ['src/a.ts'],
    links: { lib: 'src', 'src/self': '.', 'src/up': '..', one: 'two', two: 'one', deep: 'deep/deep' },
    change: 'src/a.ts',
  },
  'by an ordinary link': { files: ['src/a.ts'], links: { lib: 'src' }, change: 'lib/a.ts' },
  'what only packages link to': {
    files: ['src/notes.md'],
    links: { 'node_modules/a/AGENTS.md': '../../src/notes.md' },
    change: 'src/notes.md',
  },
  'a neighbour of a folder of custom tools': {
    change: 'tools2/a.ts',
    own: at => ({ toolPlaces: [`${at}/tools`, `${at}/tools2/b.ts`] }),
  },
  'what no glob of the setting matches': {
    change: 'src/deploy/a.ts',
    own: at => ({ alwaysAsk: ['deploy/**', '/deploy', '', ' ', '*.sql', at.split('/').at(-1) ?? ''] }),
  },
};

test('Auto: the model’s change of a file that has very many names is recommended', async () => {
  await temp.file('many/src/a.ts', 'old');
  for (let n = 0; n < 600; n++) await temp.link(`many/lib${n}`, 'src');
  assert.equal(await votes('many', 'src/a.ts'), 'recommended');
});

test('Auto: the model’s change of a file outside the open folders is recommended', async () => {
  const workspace = new DiskWorkspace(await temp.folder('closed'));
  assert.equal(await workspace.isProtected(['../elsewhere.txt']), true);
});

test('links of a moment ago are enough to tell who decides, and never to decide', async () => {
  await temp.file('recent/notes.md', 'old');
  const workspace = new DiskWorkspace(temp.at('recent'));
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  const invoker = new Invoker(store, workspace, () => 'apply');
  const { preview } = store.stage(draft({ changes: [modify('notes.md', 'old', 'new')] }));
  assert.deepEqual(await Promise.all([preview, preview].map(one => invoker.isUsersAlone(one))), [
    false,
    false,
  ]);
  await temp.link('recent/AGENTS.md', 'notes.md');
  assert.equal(await invoker.isUsersAlone(preview), false, 'the folders are not read again');
  const vote = { id: preview.id, action: 'apply', reason: 'ok', actor: 'model' } as const;
  assert.equal((await invoker.resolve(vote)).kind, 'recommended');
  assert.equal(await readFile(temp.at('recent/notes.md'), 'utf8'), 'old');
});

for (const [cases, expected] of [
  [recommended, 'recommended'],
  [executed, 'executed'],
] as const) {
  for (const [what, { files = [], links = {}, folder = '', change, own }] of Object.entries(cases)) {
    test(`Auto: the model's change of ${what} is ${expected}`, async () => {
      const base = `${expected}-${Object.keys(cases).indexOf(what)}`;
      await temp.folder(`${base}/${folder}`.replace(/\/config$/, ''));
      for (const file of files) await temp.file(`${base}/${file}`, 'old');
      for (const [link, target] of Object.entries(links)) await temp.link(`${base}/${link}`, target);
      assert.equal(await votes(`${base}/${folder}`, change, own?.(temp.at(base))), expected);
    });
  }
}

test('one vote on several previews reads the folders once, and the next one reads them again', async () => {
  const folder = temp.at('together');
  await temp.file('together/src/a.txt', 'x');
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  const invoker = new Invoker(store, new DiskWorkspace(folder), () => 'apply');
  const { readdir } = promises;
  const reads: string[] = [];
  promises.readdir = ((at: string, ...rest: unknown[]) => {
    reads.push(at);
    return Reflect.apply(readdir, promises, [at, ...rest]) as unknown;
  }) as typeof readdir;
  syncBuiltinESMExports();
  try {
    const voteOn = ['one', 'two', 'three'].map(
      name => store.stage(draft({ changes: [create(`${name}.txt`, 'new')] })).preview.id,
    );
    const vote = { action: 'apply', reason: 'ok', actor: 'model' } as const;
    for (const id of voteOn) await invoker.resolve({ ...vote, id, voteOn });
    assert.ok(voteOn.every(id => store.get(id)?.state.kind === 'applied'));
    assert.equal(reads.filter(each => each === folder).length, 1);
    await temp.link('together/.vscode', 'src');
    const { id } = store.stage(draft({ changes: [modify('src/a.txt', 'x', 'y')] })).preview;
    await invoker.resolve({ ...vote, id, voteOn: [id] });
    assert.equal(store.get(id)?.state.kind, 'pending');
  } finally {
    promises.readdir = readdir;
    syncBuiltinESMExports();
  }
});

test('the folders around many files of one folder are looked at once', async t => {
  const names = Array.from({ length: 50 }, (_, i) => `a/b/${i}.txt`);
  await temp.file('crowded/a/b/0.txt', 'x');
  const { mock } = t.mock.method(fs, 'lstatSync');
  syncBuiltinESMExports();
  try {
    assert.equal(await new DiskWorkspace(temp.at('crowded')).isProtected(names), false);
    const looked = mock.calls.map(call => call.arguments[0]);
    assert.equal(looked.filter(at => at === temp.at('crowded/a/b/HEAD')).length, 1);
  } finally {
    mock.restore();
    syncBuiltinESMExports();
  }
});

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { after, test } from 'node:test';
import {
  announceWindow,
  openWindows,
  windowsFolder,
  windowsFor,
  WindowWord,
  type OpenWindow,
} from '../../../src/agent/clients/windowFiles.ts';
import { polled } from '../../../scripts/lib/limits.mjs';
import { TempFolder } from '../../support/tempFolder.ts';

const home = await TempFolder.create();
after(() => home.remove());

const window = (over: Partial<OpenWindow> = {}): OpenWindow => ({
  pid: process.pid,
  port: 4_000,
  token: 'x'.repeat(43),
  folders: ['/projects/app'],
  keepsPreviews: true,
  startedAt: '2026-01-01T00:00:00.000Z',
  ...over,
});
const portsFor = (cwd: string, ...windows: readonly OpenWindow[]): number[] =>
  windowsFor(cwd, windows).map(({ port }) => port);

test('only the user can read the file of a window, and it is gone when the window is', async () => {
  const folder = windowsFolder(home.root);
  const remove = await announceWindow(folder, window());
  assert.deepEqual(await openWindows(folder), [window()]);
  const [name = ''] = await readdir(folder);
  if (process.platform !== 'win32') {
    assert.equal((await stat(folder)).mode & 0o777, 0o700);
    assert.equal((await stat(`${folder}/${name}`)).mode & 0o777, 0o600);
  }
  await remove();
  assert.deepEqual(await openWindows(folder), []);
  assert.deepEqual(await readdir(folder), []);
});

test('a window that ends while it leaves word leaves none, and the newest state of it counts', async () => {
  const folder = home.at('word');
  const slow = Promise.withResolvers<OpenWindow>();
  const word = new WindowWord(folder);
  const [first, second] = [
    word.leave(() => slow.promise),
    word.leave(async () => window({ folders: ['/b'] })),
  ];
  slow.resolve(window({ folders: ['/a'] }));
  await Promise.all([first, second]);
  assert.deepEqual(
    (await openWindows(folder)).map(({ folders }) => folders),
    [['/b']],
  );
  const later = Promise.withResolvers<OpenWindow>();
  const leaving = word.leave(() => later.promise);
  const removing = word.remove();
  later.resolve(window());
  await Promise.all([leaving, removing]);
  await word.leave(async () => window());
  assert.deepEqual(await readdir(folder), []);
});

test('a window that takes the storage over says in its file that it keeps its previews, and stays so', async () => {
  const folder = home.at('taken over');
  const taking = Promise.withResolvers<boolean>();
  const word = new WindowWord(folder, taking.promise);
  await word.leave(async () => window({ keepsPreviews: false }));
  const kept = async (): Promise<boolean[]> =>
    (await openWindows(folder)).map(({ keepsPreviews }) => keepsPreviews);
  assert.deepEqual(await kept(), [false]);
  taking.resolve(true);
  await polled('its file', async () => (await kept())[0]);
  await word.leave(async () => window({ keepsPreviews: false, folders: ['/b'] }));
  assert.deepEqual(await kept(), [true]);
});

test('a file of a window that is open is kept though it cannot be read', async () => {
  const name = `${process.pid}-2.json`;
  await home.file(`odd/${name}`, '{"version":"of another Redline"}');
  assert.deepEqual(await openWindows(home.at('odd')), []);
  assert.deepEqual(await readdir(home.at('odd')), [name]);
});

test('what windows left behind that are gone is removed, as is what cannot be read', async () => {
  const folder = home.at('stale');
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  await announceWindow(folder, window({ pid }));
  await home.file(`stale/${pid}-2.json`, '{"pid":1');
  await home.file('stale/odd.json', '{}');
  await home.file('stale/notes.txt', 'kept');
  assert.deepEqual(await openWindows(folder), []);
  assert.deepEqual(await readdir(folder), ['notes.txt']);
  assert.deepEqual(await openWindows(home.at('nothing')), []);
});

test('the window with the innermost folder around the agent comes first', () => {
  const outer = window({ port: 1, folders: ['/projects'] });
  const inner = window({ port: 2, folders: ['/other', '/projects/app'] });
  const sibling = window({ port: 3, folders: ['/projects/app2'] });
  assert.deepEqual(portsFor('/projects/app/src', outer, inner, sibling), [2, 1]);
  assert.deepEqual(portsFor('/projects/app', sibling, outer, inner), [2, 1]);
  assert.deepEqual(portsFor('/elsewhere', outer, inner, sibling), []);
});

test('an agent above all folders means the windows with a folder inside its own', () => {
  const app = window({ port: 1, folders: ['/projects/app'] });
  const lib = window({ port: 2, folders: ['/lib'] });
  assert.deepEqual(portsFor('/projects', app, lib), [1]);
});

test('of two windows with the same folder, the one that keeps its previews comes first, then the older one', () => {
  const second = window({ port: 1, keepsPreviews: false, startedAt: '2026-01-01' });
  const first = window({ port: 2, startedAt: '2026-01-03' });
  const younger = window({ port: 3, startedAt: '2026-01-04' });
  assert.deepEqual(portsFor('/projects/app', second, younger, first), [2, 3, 1]);
});

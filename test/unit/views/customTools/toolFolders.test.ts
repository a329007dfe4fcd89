import * as path from 'node:path';
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { toolPlaces } from '../../../../src/views/customTools/toolFolders.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

let disk: TempFolder;
before(async () => {
  disk = await TempFolder.create();
});
after(() => disk.remove());

const home = path.resolve('/home/me');
const [one, two] = [path.resolve('/project/one'), path.resolve('/project/two')];
const tools = (folder: string): string => path.join(folder, '.redline', 'tools');

test('the places are each workspace folder, then the home, then the setting', () => {
  const paths = ['~/more', path.resolve('/shared/tool.ts'), `${path.resolve('/shared')}${path.sep}`, '~'];
  assert.deepEqual(toolPlaces({ folders: [one, two], isTrusted: true, home, paths }), [
    { path: tools(one), cwd: one, trusted: true },
    { path: tools(two), cwd: two, trusted: true },
    { path: tools(home), cwd: one, trusted: true },
    { path: path.join(home, 'more'), cwd: one, trusted: true },
    { path: path.resolve('/shared/tool.ts'), cwd: one, trusted: true },
    { path: path.resolve('/shared'), cwd: one, trusted: true },
    { path: home, cwd: one, trusted: true },
  ]);
});

test('without an open folder tools run in the home', () => {
  assert.deepEqual(toolPlaces({ folders: [], isTrusted: true, home, paths: [] }), [
    { path: tools(home), cwd: home, trusted: true },
  ]);
});

test('in an untrusted workspace places inside it are not trusted, also by the setting or a link; the home is', async () => {
  const folder = await disk.folder('work');
  await disk.folder('work/tools');
  const link = await disk.link('link', disk.at('work/tools'));
  const paths = [disk.at('work/tools'), link, disk.at('elsewhere')];
  const places = toolPlaces({ folders: [folder], isTrusted: false, home, paths });
  assert.deepEqual(
    places.map(({ path: place, trusted }) => [place, trusted]),
    [
      [tools(folder), false],
      [tools(home), true],
      [disk.at('work/tools'), false],
      [link, false],
      [disk.at('elsewhere'), true],
    ],
  );
});

test('the home is trusted even when it is open as a folder, and no place is listed twice', () => {
  const paths = [tools(home), tools(one), tools(one)];
  assert.deepEqual(
    toolPlaces({ folders: [home], isTrusted: false, home, paths }).map(({ path: place, trusted }) => [
      place,
      trusted,
    ]),
    [
      [tools(home), true],
      [tools(one), true],
    ],
  );
});

test('paths that are not absolute are ignored', () => {
  const places = toolPlaces({ folders: [one], isTrusted: true, home, paths: ['tools', './x', '', '  '] });
  assert.equal(places.length, 2);
});

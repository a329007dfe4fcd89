import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  isSameFile,
  namesOnDisk,
  placeId,
  spelledAsPlanned,
  type NameLookup,
} from '../../../../src/views/workspace/namesOnDisk.ts';

/** A path with the separators of the doubles. */
const slashed = (file: string): string => file.replaceAll('\\', '/');

/** A file system that keeps how a name was spelled, but finds it by any case and normalisation. */
function insensitive(...paths: readonly string[]): NameLookup {
  const fold = (text: string): string => slashed(text).normalize('NFC').toLowerCase();
  const known = new Map<string, string>();
  for (const each of paths) {
    const parts = each.split('/');
    for (let depth = 1; depth <= parts.length; depth++) {
      const prefix = `/w/${parts.slice(0, depth).join('/')}`;
      if (!known.has(fold(prefix))) known.set(fold(prefix), prefix);
    }
  }
  return {
    idOf: file => known.get(fold(file)),
    list: folder =>
      [...known.values()]
        .filter(each => fold(path.posix.dirname(each)) === fold(folder))
        .map(each => path.posix.basename(each)),
  };
}

test('where case does not count, a path is spelled as on disk, folder by folder', () => {
  const files = insensitive('Src/Parts/App.ts', 'README.md');
  for (const given of ['Src/Parts/App.ts', 'src/parts/app.ts', 'SRC/pARTS/APP.TS']) {
    assert.equal(namesOnDisk('/w', given, files), 'Src/Parts/App.ts');
  }
  assert.equal(namesOnDisk('/w', 'readme.MD', files), 'README.md');
});

test('where case does not count, and each spelling is identified as a file of its own, a path is spelled as on disk', () => {
  const lookup = insensitive('Src/App.ts', '.vscode/settings.json');
  const files: NameLookup = {
    ...lookup,
    idOf: file => (lookup.idOf(file) === undefined ? undefined : slashed(file)),
  };
  assert.equal(namesOnDisk('/w', 'src/APP.ts', files), 'Src/App.ts');
  assert.equal(namesOnDisk('/w', '.VSCode/Settings.json', files), '.vscode/settings.json');
  assert.equal(namesOnDisk('/w', 'src/other.ts', files), 'Src/other.ts');
});

test('where normalisation does not count, a path is spelled as on disk', () => {
  const files = insensitive('caf\u00e9/e\u0301.txt');
  assert.equal(namesOnDisk('/w', 'cafe\u0301/\u00e9.TXT', files), 'caf\u00e9/e\u0301.txt');
});

test('what does not exist keeps its spelling, below the folders that do', () => {
  const files = insensitive('Src/App.ts');
  assert.equal(namesOnDisk('/w', 'src/New/File.ts', files), 'Src/New/File.ts');
});

test('many paths in one turn read each folder and look at each name once; the next turn looks again', async () => {
  const lookup = insensitive(...Array.from({ length: 50 }, (_, i) => `Src/Parts/File${i}.ts`));
  const listed: string[] = [];
  const seen: string[] = [];
  const files: NameLookup = {
    idOf: file => {
      seen.push(file);
      return lookup.idOf(file);
    },
    list: folder => {
      listed.push(slashed(folder));
      return lookup.list(folder);
    },
  };
  const resolveAll = (): void => {
    for (let i = 0; i < 50; i++)
      assert.equal(namesOnDisk('/w', `src/parts/file${i}.ts`, files), `Src/Parts/File${i}.ts`);
  };
  resolveAll();
  assert.deepEqual(listed, ['/w', '/w/src', '/w/src/parts']);
  assert.equal(seen.filter(file => slashed(file) === '/w/src').length, 1);
  await nextTurn();
  resolveAll();
  assert.equal(listed.length, 6);
});

test('where names are told apart, nothing changes, whatever stands beside it', t => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'redline-names-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const names = ['App.ts', 'app.ts', 'APP.TS', 'caf\u00e9', 'cafe\u0301', '123'];
  for (const name of names) fs.writeFileSync(path.join(folder, name), name);
  const kept = new Set(fs.readdirSync(folder));
  for (const name of names.filter(each => kept.has(each))) assert.equal(namesOnDisk(folder, name), name);
  assert.equal(namesOnDisk(folder, 'missing/File'), 'missing/File');
});

test('two paths are the same file by name, or by being one spelled differently, not by a link', t => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'redline-same-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const [a, b, link] = ['a.txt', 'b.txt', 'link'].map(name => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  fs.writeFileSync(a, '');
  fs.writeFileSync(b, '');
  fs.linkSync(a, link);
  assert.ok(isSameFile(a, a));
  assert.ok(!isSameFile(a, b));
  assert.ok(!isSameFile(a, link), 'a hard link has a name of its own');
  const upper = path.join(folder, 'A.TXT');
  assert.equal(isSameFile(a, upper), fs.existsSync(upper));
});

test('all names of a file have one place, also when it is gone; a copy has another', t => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'redline-place-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const at = (name: string): string => path.join(folder, name);
  fs.mkdirSync(at('real'));
  fs.writeFileSync(at('real/a.txt'), 'a');
  fs.copyFileSync(at('real/a.txt'), at('copy.txt'));
  fs.linkSync(at('real/a.txt'), at('hard.txt'));
  fs.symlinkSync('real', at('folder'));
  fs.symlinkSync('real/a.txt', at('soft.txt'));
  for (const name of ['hard.txt', 'soft.txt', 'folder/a.txt'])
    assert.equal(placeId(at(name)), placeId(at('real/a.txt')), name);
  assert.notEqual(placeId(at('copy.txt')), placeId(at('real/a.txt')));
  fs.rmSync(at('real/a.txt'));
  assert.equal(placeId(at('folder/a.txt')), placeId(at('real/a.txt')));
  assert.equal(placeId(at('folder/new/a.txt')), placeId(at('real/new/a.txt')));
  assert.notEqual(placeId(at('folder/b.txt')), placeId(at('real/a.txt')));
});

test('a short name on Windows is spelled out, and one that is a real name stays', () => {
  const files = insensitive(
    'Program Files/LongName.component.ts',
    'Program Files/real~1.ts',
    '12345678901234',
  );
  const short = (file: string): string =>
    file
      .replace('PROGRA~1', 'Program Files')
      .replace('LONGNA~1.TS', 'LongName.component.ts')
      .replace('123456~1', '12345678901234');
  const windows: NameLookup = {
    idOf: file => files.idOf(short(file)),
    list: folder => files.list(short(folder)),
  };
  assert.equal(namesOnDisk('/w', 'PROGRA~1/LONGNA~1.TS', windows), 'Program Files/LongName.component.ts');
  assert.equal(namesOnDisk('/w', '123456~1', windows), '12345678901234');
  assert.equal(namesOnDisk('/w', 'Program Files/REAL~1.ts', windows), 'Program Files/real~1.ts');
  assert.equal(namesOnDisk('/w', 'OTHER~1/a.ts', windows), 'OTHER~1/a.ts');
});

test('where case does not count, a new file is spelled as one that is planned, and so are its folders', () => {
  const planned = ['Src/New.ts', 'Docs/Notes/caf\u00e9.md'];
  for (const files of [insensitive('Src/App.ts'), insensitive('Src')]) {
    assert.equal(spelledAsPlanned('/w', 'Src/NEW.TS', planned, files), 'Src/New.ts');
    assert.equal(
      spelledAsPlanned('/w', 'docs/notes/CAFE\u0301.MD', planned, files),
      'Docs/Notes/caf\u00e9.md',
    );
    assert.equal(spelledAsPlanned('/w', 'docs/other.md', planned, files), 'Docs/other.md');
    assert.equal(spelledAsPlanned('/w', 'Src/News.ts', planned, files), 'Src/News.ts');
  }
});

test('where case counts, two spellings are two planned files', () => {
  const apart: NameLookup = {
    idOf: file => (['/w', '/w/Src', '/w/Src/App.ts'].includes(file) ? file : undefined),
    list: folder => (folder === '/w/Src' ? ['App.ts'] : ['Src']),
  };
  assert.equal(spelledAsPlanned('/w', 'Src/NEW.ts', ['Src/New.ts'], apart), 'Src/NEW.ts');
  assert.equal(spelledAsPlanned('/w', 'docs/a.md', ['Docs/b.md'], apart), 'docs/a.md');
});

import { execFile, execFileSync } from 'node:child_process';
import fs, { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import {
  chmod,
  link,
  lstat,
  readdir,
  readFile,
  readlink,
  realpath,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import assert from 'node:assert/strict';
import { ToolError } from '../../../../src/agent/base/errors.ts';
import { StalePreviewError } from '../../../../src/agent/hold/preview/errors.ts';
import { sha256 } from '../../../../src/agent/base/hash.ts';
import * as disk from '../../../../src/views/workspace/diskFile.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

const temp = await TempFolder.create();
after(() => temp.remove());

/** Windows has no mode bits, devices or `ulimit`. */
const posix = { skip: process.platform === 'win32' && 'POSIX only' };
const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text));
const hash = (text: string): string => sha256(bytes(text));
const text = (file: string): Promise<string> => readFile(file, 'utf8');
const ignore = (): void => undefined;
const readDiskFile = async (file: string, shown: string) => disk.readDiskFile(file, shown);
const write = async (
  file: string,
  after: string | null,
  before: string | null,
  guard: () => void = ignore,
): Promise<void> =>
  disk.writeDiskFile(
    file,
    'shown',
    after === null ? null : bytes(after),
    before === null ? null : hash(before),
    { guard },
  );
const mode = async (file: string): Promise<number> => (await stat(file)).mode & 0o7777;
/** Temporary files that were left behind next to a file. */
const leftBehind = async (file: string): Promise<string[]> =>
  (await readdir(path.dirname(file))).filter(name => name.startsWith('.redline-'));
const isStale = (error: unknown): boolean => {
  assert.ok(error instanceof StalePreviewError);
  assert.deepEqual(error.paths, ['shown']);
  return true;
};

test('reading returns the exact bytes, and undefined for a missing file', async () => {
  const raw = Uint8Array.of(0, 255, 13, 10);
  assert.deepEqual(Uint8Array.from((await readDiskFile(await temp.file('raw', raw), 'x')) ?? []), raw);
  assert.deepEqual(Buffer.from((await readDiskFile(await temp.file('empty'), 'x')) ?? 'none').length, 0);
  assert.equal(await readDiskFile(temp.at('none'), 'x'), undefined);
  assert.equal(await readDiskFile(temp.at('raw', 'below'), 'x'), undefined);
});

test('a folder is refused, with its workspace path in the error', async () => {
  const folder = await temp.folder('folder');
  await assert.rejects(readDiskFile(folder, 'src'), {
    name: 'ToolError',
    message: 'src is a folder, not a file.',
  });
  await assert.rejects(write(folder, 'x', null), {
    name: 'ToolError',
    message: 'shown is a folder, not a file.',
  });
});

test(
  'a pipe that takes the place of a file once that was looked at is refused, and not waited for',
  posix,
  async t => {
    const file = await temp.file('exchanged', 'text');
    const look = (at: string): fs.Stats => lstatSync(at);
    const { mock } = t.mock.method(fs, 'statSync', (at: string) => {
      const found = look(at);
      fs.rmSync(at);
      execFileSync('mkfifo', [at]);
      return found;
    });
    syncBuiltinESMExports();
    t.after(() => {
      mock.restore();
      syncBuiltinESMExports();
    });
    await assert.rejects(readDiskFile(file, 'shown'), /^ToolError: shown is not a regular file\.$/);
  },
);

test('whoever reads a file is told where it really is', posix, async () => {
  const folder = await temp.folder('real');
  await temp.file('real/file', 'text');
  await temp.link('way', folder);
  const seen: string[] = [];
  disk.readDiskFile(temp.at('way/file'), 'x', real => seen.push(real));
  assert.deepEqual(seen, [path.join(await realpath(folder), 'file')]);
});

test('devices and pipes are refused without being opened', posix, async () => {
  await assert.rejects(readDiskFile('/dev/null', 'x'), /^ToolError: x is not a regular file\.$/);
  const pipe = await temp.folder('pipes').then(folder => path.join(folder, 'pipe'));
  await promisify(execFile)('mkfifo', [pipe]);
  const alias = await temp.link('pipe-link', pipe);
  for (const file of [pipe, alias]) {
    await assert.rejects(readDiskFile(file, 'shown'), /not a regular file/);
    // Only a pipe of our own: a real device that a faulty write replaced would be gone for the whole machine.
    for (const after of ['x', null]) {
      const call = write(file, after, null, () => assert.fail('nothing may be about to change'));
      await assert.rejects(call, { name: 'ToolError', message: 'shown is not a regular file.' });
    }
  }
  assert.deepEqual(await readdir(temp.at('pipes')), ['pipe']);
});

test('a file of 5 MB is read, one byte more is refused with its size', async () => {
  const file = await temp.file('big');
  await truncate(file, 5 * 1024 * 1024);
  assert.equal((await readDiskFile(file, 'x'))?.length, 5 * 1024 * 1024);
  await truncate(file, 5 * 1024 * 1024 + 1);
  await assert.rejects(
    readDiskFile(file, 'x'),
    /^ToolError: x is 5\.0 MB; files over 5 MB cannot be read or edited\.$/,
  );
});

test('a file is replaced, created with its folders, and removed', async () => {
  const file = await temp.file('a/b.txt', 'old');
  await write(file, 'new', 'old');
  assert.equal(await text(file), 'new');
  await write(file, null, 'new');
  await assert.rejects(stat(file), { code: 'ENOENT' });
  await write(file, null, null);
  const made = temp.at('made/deep/file.txt');
  await write(made, 'made', null);
  assert.equal(await text(made), 'made');
  await write(made, '', 'made');
  assert.equal(await text(made), '');
  assert.deepEqual(await leftBehind(made), []);
});

test('a file with unexpected content is left alone by every operation', async () => {
  const file = await temp.file('stale.txt', 'mine');
  for (const [after, before] of [
    ['new', 'old'],
    ['new', null],
    [null, 'old'],
  ] as const) {
    await assert.rejects(write(file, after, before), isStale);
  }
  assert.equal(await text(file), 'mine');
  for (const after of ['new', null]) await assert.rejects(write(temp.at('gone.txt'), after, 'old'), isStale);
  await assert.rejects(stat(temp.at('gone.txt')), { code: 'ENOENT' });
  assert.deepEqual(await leftBehind(file), []);
});

test('the guard is called right before the change, and can prevent it', async () => {
  const file = await temp.file('guarded/a.txt', 'old');
  const made = temp.at('guarded/new.txt');
  const stop = new Error('stop');
  const guard = (): never => {
    throw stop;
  };
  for (const [target, after, before] of [
    [file, 'new', 'old'],
    [file, null, 'old'],
    [made, 'x', null],
  ] as const) {
    await assert.rejects(write(target, after, before, guard), error => error === stop);
  }
  assert.equal(await text(file), 'old');
  assert.deepEqual(await readdir(temp.at('guarded')), ['a.txt']);
});

test('the guard is not called when nothing would be changed anyway', async () => {
  const file = await temp.file('guard2.txt', 'mine');
  await assert.rejects(
    write(file, 'new', 'old', () => assert.fail('called too early')),
    isStale,
  );
});

test('nothing is changed before the guard is called, and nothing is created next to the file', async () => {
  const file = await temp.file('in-place/a.txt', 'old');
  let atGuard: unknown;
  await write(file, 'next', 'old', () => {
    atGuard = [readFileSync(file, 'utf8'), readdirSync(path.dirname(file))];
  });
  assert.deepEqual(atGuard, ['old', ['a.txt']]);
  assert.equal(await text(file), 'next');
});

test('a file that another program replaces or removes at the last moment does not count as written', async () => {
  const replaced = await temp.file('swapped/a.txt', 'old');
  const removed = await temp.file('swapped/b.txt', 'old');
  const other = await temp.file('swapped/other.txt', 'theirs');
  const away = await temp.folder('swapped-away');
  const moveAway = (file: string): void => fs.renameSync(file, path.join(away, path.basename(file)));
  // Windows does not let go of the name of an open file, unless it gets another one.
  const replace = (): void => {
    moveAway(replaced);
    fs.renameSync(other, replaced);
  };
  await assert.rejects(write(replaced, 'new', 'old', replace), isStale);
  await assert.rejects(
    write(removed, 'new', 'old', () => moveAway(removed)),
    isStale,
  );
  assert.equal(await text(replaced), 'theirs');
  assert.deepEqual(await readdir(path.dirname(replaced)), ['a.txt']);
});

test('the bytes are exact whether the file grows, shrinks, or keeps its length', async () => {
  const texts = [
    'one',
    '',
    'x'.repeat(10_000),
    'y'.repeat(9_999),
    'z'.repeat(9_999),
    '1',
    'ten\n'.repeat(3_000),
  ];
  const file = await temp.file('lengths.txt', '');
  let before = '';
  for (const next of texts) {
    await write(file, next, before);
    assert.equal(await text(file), next);
    before = next;
  }
});

test('the file itself is overwritten: all its hard links show the new text', posix, async () => {
  const file = await temp.file('names/a.txt', 'old');
  await link(file, temp.at('names/b.txt'));
  const { ino } = await stat(file);
  await write(file, 'new', 'old');
  assert.equal(await text(temp.at('names/b.txt')), 'new');
  assert.equal((await stat(file)).ino, ino);
});

test('mode bits are kept, also those that the umask would clear', posix, async () => {
  for (const bits of [0o755, 0o600, 0o666, 0o777, 0o640]) {
    const file = await temp.file(`mode-${bits.toString(8)}.sh`, 'old');
    await chmod(file, bits);
    await write(file, 'new', 'old');
    assert.equal(await mode(file), bits);
  }
});

test('a read-only file is refused, although the folder would let it be replaced', posix, async () => {
  const file = await temp.file('readonly.txt', 'old');
  await chmod(file, 0o444);
  for (const after of ['new', null]) {
    await assert.rejects(write(file, after, 'old'), { name: 'ToolError', message: 'shown is read-only' });
  }
  assert.equal(await text(file), 'old');
  assert.equal(await mode(file), 0o444);
  await chmod(file, 0o644);
});

test('a symbolic link stays a link: its target is overwritten', async () => {
  const target = await temp.file('links/target.txt', 'old');
  const link = await temp.link('links/sub/link.txt', '../target.txt');
  await write(link, 'new', 'old');
  assert.equal(await readlink(link), path.normalize('../target.txt'));
  assert.equal(await text(target), 'new');
  assert.deepEqual(await leftBehind(target), []);
  assert.deepEqual(await readdir(temp.at('links/sub')), ['link.txt']);
});

test('removing a symbolic link is refused: it could not be rolled back', async () => {
  const target = await temp.file('unlink/target.txt', 'old');
  const link = await temp.link('unlink/link.txt', 'target.txt');
  await assert.rejects(write(link, null, 'old'), /symbolic link/);
  assert.ok((await lstat(link)).isSymbolicLink());
  assert.equal(await text(target), 'old');
});

test('nothing is created through a dangling link', async () => {
  const link = await temp.link('dangle/link.txt', temp.at('dangle-target.txt'));
  await assert.rejects(write(link, 'x', null));
  await assert.rejects(stat(temp.at('dangle-target.txt')), { code: 'ENOENT' });
  const folder = await temp.link('dangle/dir', temp.at('dangle-dir'));
  await assert.rejects(write(path.join(folder, 'new.txt'), 'x', null));
  await assert.rejects(stat(temp.at('dangle-dir')), { code: 'ENOENT' });
});

test('a folder cannot be created where a file is', async () => {
  const file = await temp.file('solid.txt', 'x');
  await assert.rejects(write(path.join(file, 'below.txt'), 'x', null));
  assert.equal(await text(file), 'x');
});

/** Writes under a limit of 1 kB per file, as on a full disk: the write fails midway. Returns the error's code. */
async function writeOnFullDisk(file: string, before: string | null): Promise<string> {
  const script = `
    import { writeDiskFile } from ${JSON.stringify(new URL('../../../../src/views/workspace/diskFile.ts', import.meta.url).href)};
    const before = ${JSON.stringify(before === null ? null : hash(before))};
    try {
      writeDiskFile(process.argv[1], 'shown', Buffer.alloc(100_000, 'x'), before);
      process.stdout.write('written');
    } catch (error) {
      process.stdout.write(String(error.code));
    }
  `;
  const command = 'ulimit -f 1; exec "$@"';
  const { stdout } = await promisify(execFile)('bash', [
    '-c',
    command,
    'bash',
    process.execPath,
    '--input-type=module',
    '--eval',
    script,
    file,
  ]);
  return stdout;
}

test('a write that fails midway leaves the old file, or none, and nothing next to it', posix, async () => {
  const file = await temp.file('full/old.txt', 'old');
  assert.equal(await writeOnFullDisk(file, 'old'), 'EFBIG');
  assert.equal(await text(file), 'old');
  assert.equal(await writeOnFullDisk(temp.at('full/new.txt'), null), 'EFBIG');
  assert.deepEqual(await readdir(temp.at('full')), ['old.txt']);
});

test('errors of the file system are passed on unchanged', async () => {
  const loop = await temp.link('loop', 'loop');
  await assert.rejects(write(loop, 'x', null), error => !(error instanceof ToolError));
});

test('overwriting a file that has grown over 5 MB is refused', async () => {
  const file = await temp.file('grown.txt', 'old');
  await writeFile(file, 'x'.repeat(5 * 1024 * 1024 + 1));
  await assert.rejects(write(file, 'new', 'old'), /over 5 MB/);
  assert.deepEqual(await leftBehind(file), []);
});

for (const [code, platform] of [
  ['EBUSY', 'linux'],
  ['EBUSY', 'win32'],
  ['EPERM', 'win32'],
] as const)
  test(`a file that another program has open (${code}, ${platform}) is tried again, then said so`, async () => {
    let calls = 0;
    const failing = (times: number) => (): string => {
      if (++calls <= times) throw Object.assign(new Error(code), { code });
      return 'read';
    };
    assert.equal(await disk.whileOthersHaveIt('a.ts', failing(2), { platform }), 'read');
    assert.equal(calls, 3);
    await assert.rejects(disk.whileOthersHaveIt('a.ts', failing(Infinity), { platform, patience: 0 }), {
      code,
      message: 'a.ts is open in another program, or may not be changed. Close it there and try again',
    });
  });

test('what is refused for good is not tried again', async () => {
  let calls = 0;
  const failing = (): never => {
    calls++;
    throw Object.assign(new Error('EPERM'), { code: 'EPERM' });
  };
  await assert.rejects(disk.whileOthersHaveIt('a.ts', failing, { platform: 'linux' }), { code: 'EPERM' });
  assert.equal(calls, 1);
});

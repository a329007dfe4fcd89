/** A log of any older version opens with everything in it, its texts and binary files in the contents, in little memory. */
import { execFile } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, beforeEach, test } from 'node:test';
import assert from 'node:assert/strict';
import { promisify } from 'node:util';
import { sha256 } from '../../../../../src/agent/base/hash.ts';
import { encodeHeader } from '../../../../../src/agent/base/log/logFormat.ts';
import { openPreviewLog } from '../../../../../src/agent/hold/preview/log/openPreviewLog.ts';
import { parseEntry, previewLogFormat } from '../../../../../src/agent/hold/preview/log/previewLog.ts';
import { previewMigrations } from '../../../../../src/agent/hold/preview/log/previewMigrations.ts';
import { PreviewStore } from '../../../../../src/agent/hold/preview/previewStore.ts';
import { decodeLog } from '../../../../support/decodeLog.ts';
import { draft } from '../../../../support/drafts.ts';
import { modify } from '../../../../support/changes.ts';
import { TempFolder } from '../../../../support/tempFolder.ts';

const temp = await TempFolder.create();
after(() => temp.remove());
let count = 0;
let folder = '';
let file = '';
beforeEach(() => {
  folder = temp.at(`${++count}`);
  fs.mkdirSync(folder);
  file = path.join(folder, 'previews.jsonl');
});

const fixtures = path.join(import.meta.dirname, '../../../../fixtures/logs');
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
/** A log as version 8 wrote it where it held texts, or as older ones did. */
const logOf = (version: number, ...entries: object[]): string =>
  encodeHeader({ log: 'redline.previews', version }) +
  entries.map(entry => `${JSON.stringify(entry)}\n`).join('');
const staged = (n: number, ...changes: ReturnType<typeof modify>[]) => ({
  type: 'staged',
  preview: { ...draft({ changes }), id: `p${n}` },
});

/** Parses a line of an older version. */
const parsedFrom = (version: number) => (line: unknown) => {
  const steps = Object.entries(previewMigrations).filter(([from]) => Number(from) >= version);
  return parseEntry(steps.reduce((value, [, migrate]) => migrate(value), line));
};

for (const version of [1, 2, 3, 4, 5, 6])
  test(`a log of version ${version} has the same entries, texts and all, and no text in its lines`, async () => {
    const stored = fs.readFileSync(path.join(fixtures, `previews.v${version}.jsonl`));
    fs.writeFileSync(file, stored);
    const expected = await decodeLog(stored.toString(), { ...previewLogFormat, parse: parsedFrom(version) });
    const { entries, badLines, torn } = await openPreviewLog(file).load();
    assert.deepEqual(plain(entries), plain(expected.entries));
    assert.deepEqual([badLines, torn], [expected.badLines, expected.torn]);
    assert.deepEqual(
      plain((await openPreviewLog(file).load()).entries),
      plain(expected.entries),
      'and again',
    );
    const lines = fs.readFileSync(file, 'utf8').split('\n');
    assert.equal(`${lines[0]}\n`, encodeHeader(previewLogFormat));
    assert.ok(lines.every((line, i) => badLines.includes(i + 1) || !/[0-9a-f]{64}","text"/.test(line)));
  });

test('a binary file moves from its folder to the contents; one that is gone or damaged is refused by name', async () => {
  const [kept, damaged] = [Buffer.of(0, 1, 2), Buffer.of(0, 3)];
  const side = (bytes: Buffer) => ({ hash: sha256(bytes), size: bytes.length });
  fs.mkdirSync(path.join(folder, 'blobs'));
  fs.writeFileSync(path.join(folder, 'blobs', sha256(kept)), kept);
  fs.writeFileSync(path.join(folder, 'blobs', sha256(damaged)), 'x');
  const change = { kind: 'modify', path: 'a.png', before: side(damaged), after: side(kept) };
  fs.writeFileSync(file, logOf(8, staged(1, change as never)));
  const log = openPreviewLog(file);
  const store = new PreviewStore(log, error => assert.fail(String(error)));
  store.restore((await log.load()).entries);
  fs.rmSync(path.join(folder, 'blobs'), { recursive: true });
  assert.deepEqual(store.get('p1')?.changes, [change]);
  assert.deepEqual(Buffer.from(await store.blobs.get(side(kept))), kept);
  await assert.rejects(store.blobs.get(side(damaged)), /is gone from Redline's storage, or damaged/);
});

test('what cannot be read stays byte for byte, also with a damaged header, a lost line feed and a torn end', async () => {
  const [one, two] = [staged(1, modify('a', 'a', 'A')), staged(2, modify('b', 'b', 'B'))].map(entry =>
    JSON.stringify({ v: 8, ...entry }),
  );
  const odd = Buffer.concat([Buffer.from('{"odd'), Buffer.of(0xff, 0x0a)]);
  fs.writeFileSync(
    file,
    Buffer.concat([Buffer.from('{"lo\n'), odd, Buffer.from(`\n${one}${two}\n{"type":"stag`)]),
  );
  const { entries, badLines, torn } = await openPreviewLog(file).load();
  assert.deepEqual(
    entries.map(entry => entry.type === 'staged' && entry.preview.id),
    ['p1', 'p2'],
  );
  assert.deepEqual([badLines, torn], [[2], true]);
  const stored = fs.readFileSync(file);
  assert.ok(stored.subarray(encodeHeader(previewLogFormat).length).indexOf(odd) === 0);
});

test('an error while it is migrated leaves the log as it was', async () => {
  const stored = logOf(7, staged(1, modify('a', 'a', 'A')));
  fs.writeFileSync(file, stored);
  fs.writeFileSync(path.join(folder, 'contents'), 'in the way');
  await assert.rejects(openPreviewLog(file).load());
  assert.equal(fs.readFileSync(file, 'utf8'), stored);
  assert.deepEqual(fs.readdirSync(folder).sort(), ['contents', 'previews.jsonl']);
  fs.rmSync(path.join(folder, 'contents'));
  assert.equal((await openPreviewLog(file).load()).entries.length, 1);
});

test('a log is migrated by a process that could not hold it', async () => {
  const text = Array.from({ length: 20_000 }, (_, i) => `const value${i} = compute(${i});\n`).join('');
  fs.writeFileSync(file, logOf(7, staged(1, modify('a.ts', text, `${text}// 0\n`))));
  const revised = (n: number) => {
    const changes = [modify('a.ts', text, `${text}// ${n}\n`)];
    return { type: 'revised', id: 'p1', revision: n + 1, changes, dependsOn: [], by: 'user', mark: `${n}` };
  };
  for (let n = 1; fs.statSync(file).size < 40e6; n++)
    fs.appendFileSync(file, `${JSON.stringify(revised(n))}\n`);
  const source = import.meta.resolve('../../../../../src/agent/hold/preview/log/openPreviewLog.ts');
  const script = `const { openPreviewLog } = await import(${JSON.stringify(source)});
    const { entries } = await openPreviewLog(${JSON.stringify(file)}).load();
    const last = entries.at(-1).changes[0].after.text;
    console.log(JSON.stringify([entries.length, last.length, process.resourceUsage().maxRSS / 1024]));`;
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...['--max-old-space-size=40', '--disable-warning=ExperimentalWarning', '--input-type=module'],
    ...['--eval', script],
  ]);
  const [entries = 0, length = 0, megabytes = Infinity] = JSON.parse(stdout) as number[];
  assert.ok(entries > 20 && length > text.length);
  // Mostly Node itself and its buffers: the limit of the heap is what proves it.
  assert.ok(megabytes < 450, `${megabytes} MB`);
  assert.ok(fs.statSync(file).size < 1e6);
});

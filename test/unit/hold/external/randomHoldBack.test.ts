import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { Random } from '../../../support/fuzz/random.ts';
import { GitRepository } from '../../../support/gitRepository.ts';
import { holdBackIn } from './heldBack.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

/** `npm run test:soak -- checkouts` compares 1,000. */
const { RUNS = '12', SEED = '1' } = process.env;

const NAMES = ['a.txt', 'b c.txt', 'ä.txt', '[id].txt', '😀.md', 'tab\tname.md', 'sub/a.txt', 'sub/x.md'];
const ATTRIBUTES = [
  'text',
  'text=auto',
  '-text',
  'text eol=crlf',
  'text eol=lf',
  'text working-tree-encoding=UTF-16LE-BOM',
  'ident',
  'filter=upper',
];
const LINES = ['one', 'two', '$Id$', '$Id: 0123 $', 'Ä', '\ufefftext', '', 'a\rb', 'last 😀'];

test('files that are held back are as git checkout writes them, and applying brings every byte back', async t => {
  const random = new Random(Number(SEED));
  let [held, alone] = [0, 0];
  for (let n = 0; n < Number(RUNS); n++) {
    const repository = await randomRepository(random, t);
    await edit(repository, random);
    const before = filesOf(repository.folder);
    const copy = await TempFolder.create();
    t.after(() => copy.remove());
    cpSync(repository.folder.root, copy.root, { recursive: true, preserveTimestamps: true });
    const wanted = checkedOut(copy, changedNames(repository.folder));
    const renames = (await repository.git.uncommitted()).filter(({ from }) => from !== undefined);
    const { leftOut, files, isHeld, apply } = await holdBackIn(repository);
    const how = `run ${n} of SEED=${SEED}, left out: ${JSON.stringify(leftOut)}`;
    const both = (path: string): readonly (string | undefined)[] => [
      path,
      renames.find(each => each.path === path)?.from,
    ];
    const told = new Map(leftOut.flatMap(({ path, why }) => both(path).map(name => [name, why] as const)));
    const isLeftOut = (name: string): boolean => told.has(name) && told.get(name) !== 'mode';
    const compared = (files: ReadonlyMap<string, State>): unknown =>
      NAMES.map(name => [name, told.get(name) === 'mode' ? files.get(name)?.bytes : files.get(name)]);
    const expected = NAMES.map(
      name => [name, (wanted.has(name) && !isLeftOut(name) ? wanted : before).get(name)] as const,
    );
    assert.deepEqual(compared(filesOf(repository.folder)), compared(new Map(expected)), how);
    // Git takes a file for changed whose attributes have changed; there is nothing to hold back then.
    if (isHeld) await apply();
    assert.deepEqual(compared(filesOf(repository.folder)), compared(before), how);
    const named = new Set([
      ...leftOut.map(({ path }) => path),
      ...files.flatMap(({ path, from }) => [path, from]),
    ]);
    assert.deepEqual(
      [...wanted.keys()].filter(name => !named.has(name) && !isLeftOut(name)),
      [],
      how,
    );
    [held, alone] = [held + files.length, alone + leftOut.length];
  }
  t.diagnostic(`${held} files were held back, ${alone} were told and left alone`);
  assert.ok(held > Number(RUNS), `only ${held} files were held back`);
});

async function randomRepository(random: Random, t: Parameters<typeof GitRepository.create>[0]) {
  const repository = await GitRepository.create(t);
  repository.config('filter.upper.smudge', 'tr a-z A-Z');
  repository.config('filter.upper.clean', 'tr A-Z a-z');
  repository.config('core.autocrlf', random.pick(['false', 'true', 'input']));
  repository.config('core.eol', random.pick(['lf', 'crlf', 'native']));
  const attributes = random.list(
    0,
    2,
    () => `${random.pick(['*.txt', '*.md', 'sub/*'])} ${random.pick(ATTRIBUTES)}`,
  );
  const files = Object.fromEntries(
    NAMES.filter(() => random.chance(0.6)).map(name => [
      name,
      random.chance(0.2) ? { content: contentOf(random), mode: '100755' as const } : contentOf(random),
    ]),
  );
  repository.checkedOut({ '.gitattributes': attributes.map(line => `${line}\n`).join(''), ...files });
  return repository;
}

function contentOf(random: Random): string {
  const end = random.pick(['\n', '\r\n', '']);
  const lines = random.list(
    0,
    8,
    () => random.pick(LINES) + (end === '' ? random.pick(['\n', '\r\n']) : end),
  );
  const text = lines.join('');
  return random.chance(0.3) ? text.replace(/\r?\n$/, '') : text;
}

/** Changes files as a person and a program do. */
async function edit(repository: GitRepository, random: Random): Promise<void> {
  const { folder } = repository;
  for (const name of NAMES) {
    const now = stateOf(folder, name);
    if (now === undefined) {
      if (random.chance(0.3)) await folder.file(name, contentOf(random));
    } else if (random.chance(0.2)) rmSync(folder.at(name));
    else if (random.chance(0.5)) writeFileSync(folder.at(name), changed(now.bytes, random));
  }
  // Git refuses to add a file that is not in the encoding that its attributes name, and adds the others.
  if (random.chance(0.4)) spawnSync('git', ['add', '-A', '--ignore-errors'], { cwd: folder.root });
}

/** Other bytes, some of them no text. */
function changed(bytes: string, random: Random): Uint8Array {
  const at = random.below(bytes.length + 1);
  const put = random.pick([
    'x',
    '\n',
    '\r\n',
    'ONE\ntwo\n',
    '$Id$\n',
    ...(random.chance(0.2) ? ['\xff', '\0'] : []),
  ]);
  return Buffer.from(bytes.slice(0, at) + put + bytes.slice(at + random.below(6)), 'latin1');
}

/** The names of files that git says are changed. The index stays as it is, with the times that it has seen. */
function changedNames({ root }: TempFolder): readonly string[] {
  const args = ['--no-optional-locks', 'status', '--porcelain', '-z', '--no-renames', '-uall'];
  const entries = execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\0');
  return entries.filter(Boolean).map(entry => entry.slice(3));
}

/** These files as `git checkout` leaves them. */
function checkedOut(copy: TempFolder, names: readonly string[]): ReadonlyMap<string, State> {
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: copy.root, encoding: 'utf8' });
  git('reset', '-q');
  const known = new Set(git('ls-files', '-z').split('\0'));
  for (const name of names)
    if (known.has(name)) git('checkout', '-q', '-f', '--', `:(literal)${name}`);
    else rmSync(copy.at(name));
  return new Map(names.map(name => [name, stateOf(copy, name)]));
}

type State =
  { readonly mode: number; /** One character for each byte. */ readonly bytes: string } | undefined;

function filesOf(folder: TempFolder): ReadonlyMap<string, State> {
  return new Map(NAMES.map(name => [name, stateOf(folder, name)]));
}

function stateOf(folder: TempFolder, name: string): State {
  const found = lstatSync(folder.at(name), { throwIfNoEntry: false });
  return found && { mode: found.mode & 0o111, bytes: readFileSync(folder.at(name), 'latin1') };
}

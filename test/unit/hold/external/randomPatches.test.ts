import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameOfBytes, shownName } from '../../../../src/agent/hold/external/fileNames.ts';
import type { Gathered, LeftOut } from '../../../../src/agent/hold/external/gathered.ts';
import { parsePatch } from '../../../../src/agent/hold/external/patch/parsePatch.ts';
import { patchProposal } from '../../../../src/agent/hold/external/patch/patchProposal.ts';
import type { PatchPart } from '../../../../src/agent/hold/external/patch/patchParts.ts';
import { bytesOfSide, isText, type FileSide } from '../../../../src/agent/hold/preview/fileChange.ts';
import { decodeText } from '../../../../src/agent/hold/text/encodings.ts';
import { Random } from '../../../support/fuzz/random.ts';
import { MemoryWorkspace } from '../../../support/memoryWorkspace.ts';
import { PatchMaker, type Blob, type RandomPatch, type Tree } from './randomPatches.ts';

/** `npm run test:soak -- patches` compares 2,000. */
const { RUNS = '100', SEED = '1' } = process.env;

test('what a patch makes is what git apply makes of it, or it is told', async t => {
  const random = new Random(Number(SEED));
  const maker = await PatchMaker.create(t, random);
  const different: unknown[] = [];
  let [same, told, refused] = [0, 0, 0];
  for (let n = 0; n < Number(RUNS); n++) {
    const made = maker.next();
    if (made.patch === '' || !made.after) {
      refused++;
      continue;
    }
    const text = decodeText(Buffer.from(made.patch, 'latin1'))?.text;
    if (text === undefined) {
      told++; // it has a name that is not UTF-8, and is refused as a whole
      continue;
    }
    const { now, leftOut, parts } = await proposed(made, text);
    const wrong = differences(made, made.after, now, leftOut, parts);
    if (wrong.length > 0) different.push({ n, how: made.how, wrong, leftOut, patch: made.patch });
    else if (leftOut.length === 0) same++;
    else told++;
  }
  t.diagnostic(`${same} are the same, ${told} are told in part, git refuses ${refused}`);
  assert.deepEqual(different.slice(0, 3), [], `${different.length} differ with SEED=${SEED}`);
  assert.ok(same > Number(RUNS) / 4, `only ${same} are the same`);
  assert.ok(refused < Number(RUNS) / 5, `git refuses ${refused} patches of its own`);
});

const textName = (name: string): string => nameOfBytes(Buffer.from(name, 'latin1'));

async function proposed({ before }: RandomPatch, text: string) {
  const [files, links]: [Record<string, Uint8Array>, Record<string, string>] = [{}, {}];
  const workspace = new MemoryWorkspace();
  for (const [bytes, { mode, bytes: content }] of before) {
    const name = textName(bytes);
    if (mode === '120000') links[name] = 'elsewhere';
    else if (mode !== '160000' && name.isWellFormed()) files[name] = Buffer.from(content, 'latin1');
  }
  const here = new MemoryWorkspace(files, links);
  for (const [bytes, { mode }] of before)
    if (mode === '100755' && textName(bytes).isWellFormed())
      here.put(textName(bytes), files[textName(bytes)] ?? '', 0o755);
  const parts = await parsePatch(text);
  const gathered = await patchProposal(parts, here, {
    resolve: async name => [await workspace.resolvePath(name)],
    isLink: async name => name in links,
  });
  return { parts, leftOut: gathered.leftOut, now: applied(before, gathered) };
}

/** The tree that the changes make. */
function applied(before: Tree, { changes }: Gathered): Tree {
  const bytesOf = (name: string): string => Buffer.from(name).toString('latin1');
  const contentOf = (side: FileSide): string =>
    isText(side) ? Buffer.from(bytesOfSide(side)).toString('latin1') : assert.fail('not a text');
  const tree = new Map(before);
  for (const change of changes) {
    if (change.kind === 'rename') assert.ok(tree.delete(bytesOf(change.from)));
    else if (change.kind === 'delete') assert.ok(tree.delete(bytesOf(change.path)));
  }
  for (const change of changes) {
    if (change.kind === 'delete') continue;
    const name = bytesOf(change.path);
    const old = before.get(change.kind === 'rename' ? bytesOf(change.from) : name)?.mode ?? '100644';
    const mode =
      change.kind === 'rename' || change.mode === undefined
        ? old
        : change.mode === 0o755
          ? '100755'
          : '100644';
    tree.set(name, {
      mode: change.kind === 'create' && change.mode === undefined ? '100644' : mode,
      bytes: contentOf(change.after),
    });
  }
  return tree;
}

/** Paths that are neither as git makes them nor told and as they were. */
function differences(
  { before, between }: RandomPatch,
  after: Tree,
  now: Tree,
  leftOut: Gathered['leftOut'],
  parts: readonly PatchPart[],
) {
  const names = new Set([...before.keys(), ...after.keys(), ...now.keys()]);
  const named = (isMeant: (one: LeftOut) => boolean): ReadonlySet<string> =>
    withOtherNames(
      leftOut.filter(isMeant).map(({ path }) => shownName(path)),
      parts,
    );
  const told = named(() => true);
  const [modes, inPart] = [named(({ why }) => why === 'mode'), named(({ why }) => why === 'hunks')];
  return [...names].flatMap(name => {
    const [theirs, ours] = [after.get(name), now.get(name)];
    if (isSame(theirs, ours)) return [];
    const shown = shownName(textName(name));
    if (modes.has(shown) && theirs?.bytes === ours?.bytes) return [];
    const known = [before, ...between].map(tree => tree.get(name));
    const isKnown = known.some(
      one => isSame(one, ours) || (modes.has(shown) && one !== undefined && one.bytes === ours?.bytes),
    );
    if (inPart.has(shown) || (told.has(shown) && isKnown)) return [];
    return [{ name, known, theirs, ours }];
  });
}

/** The names that a file of these has before or after one of the parts. */
function withOtherNames(given: readonly string[], parts: readonly PatchPart[]): ReadonlySet<string> {
  const names = new Set(given);
  for (let size = -1; size < names.size;) {
    size = names.size;
    for (const part of parts) {
      const both = part.kind === 'unusable' ? [] : [...part.from, ...part.to].map(shownName);
      if (both.some(name => names.has(name))) for (const name of both) names.add(name);
    }
  }
  return names;
}

function isSame(one: Blob | undefined, other: Blob | undefined): boolean {
  return one?.mode === other?.mode && one?.bytes === other?.bytes;
}

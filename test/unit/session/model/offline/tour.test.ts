import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { inRepo } from '../../../../../scripts/lib/paths.mjs';
import type { CheckRuns, ChecksReport, NotRunReason } from '../../../../../src/agent/sandbox/checks/check.ts';
import { runChecksTool } from '../../../../../src/agent/session/tools/runChecksTool.ts';
import { createOfflineProvider } from '../../../../../src/agent/session/model/offline/provider.ts';
import { resolvePart } from '../../../../../src/agent/hold/preview/resolve/resolvePart.ts';
import { textOf } from '../../../../../src/agent/hold/preview/fileChange.ts';
import { createTestSession, type TestSession } from '../../../../support/testSession.ts';
import { TempFolder } from '../../../../support/tempFolder.ts';

const FILE = 'src/cart.js';
const PROJECT = inRepo('media', 'tour');
const CODE = fs.readFileSync(path.join(PROJECT, FILE), 'utf8');
const MENDED = CODE.replace('sum += item.price;', 'sum += item.price * item.quantity;');

const temp = await TempFolder.create();
after(() => temp.remove());
let copies = 0;

/** Runs the project's own test in a copy of it, with this text in the file of the fault. @returns its exit code */
function runTest(text: string): number | null {
  const folder = temp.at(`shop-${++copies}`);
  fs.cpSync(PROJECT, folder, { recursive: true });
  fs.writeFileSync(path.join(folder, FILE), text);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return spawnSync(process.execPath, ['--test'], { cwd: folder, env }).status;
}

/** A session in the tour's project, whose check runs the project's own test on what is pending. */
function inTour({ why, files }: { why?: NotRunReason; files?: Record<string, string> } = {}) {
  const runs: (number | null)[] = [];
  const checks: CheckRuns = {
    list: () => [{ name: 'test', command: 'node --test', timeLimit: 60, isApproved: true }],
    withBase: id => {
      const preview = session.store.get(id);
      return preview && [preview];
    },
    run: async (previews): Promise<ChecksReport> => {
      if (why) return { results: [], notRun: [{ name: 'test', why }] };
      const [change] = previews.flatMap(({ changes = [] }) => changes);
      const exitCode = runTest(change ? textOf(change.after) : CODE);
      runs.push(exitCode);
      const outcome = exitCode === 0 ? ('passed' as const) : ('failed' as const);
      const result = {
        id: '1',
        name: 'test',
        command: 'node --test',
        outcome,
        exitCode: exitCode ?? -1,
        seconds: 0.2,
        at: '',
        previews: {},
        saw: { contents: {}, bits: {}, rest: '' },
        output: '1 !== 2',
        problems: [],
      };
      return { results: [result], notRun: [] };
    },
  };
  const session: TestSession = createTestSession({
    files: files ?? { [FILE]: CODE },
    provider: createOfflineProvider(),
    settings: { modelAuthority: 'recommend', forcing: 'auto' },
    tools: [runChecksTool(checks)],
  });
  return { ...session, runs };
}

const said = ({ session }: TestSession): string[] =>
  session.messages.flatMap(message =>
    message.role === 'assistant' && message.text !== '' ? [message.text] : [],
  );

/** Why the model would apply the proposal. */
function reasonOf({ store }: TestSession): string | undefined {
  const state = store.get('p1')?.state;
  return state?.kind === 'pending' ? state.recommendation?.reason : undefined;
}

test('the test of the tour’s project fails, and passes once the fault is mended', () => {
  assert.equal(runTest(CODE), 1);
  assert.equal(runTest(MENDED), 0);
});

test('the tour: red, a proposal, green, a refused hunk that is answered, and only then the disk changes', async () => {
  const tour = inTour();
  await tour.session.prompt('/tour');
  assert.deepEqual(tour.runs, [1, 0]);
  assert.match(
    said(tour).join('\n'),
    /The test does not pass\. The total ignores.*\nThe test passes\. Nothing on disk/,
  );
  assert.equal(reasonOf(tour), 'The test passes with it.');
  assert.equal(tour.workspace.text(FILE), CODE);

  const vote = { id: 'p1', actor: 'human', reason: 'Keep “Total”.' } as const;
  const answered = tour.nextEvent(
    ({ type, ...event }) => type === 'state_changed' && 'state' in event && event.state === 'awaitingReview',
  );
  await resolvePart(tour, { ...vote, action: 'discard', revision: 1 }, { path: FILE, hunk: 1 });
  await answered;
  assert.match(
    said(tour).at(-1) ?? '',
    /“Keep ‘Total’”\. I leave that as it is\. The other hunk still waits/,
  );
  assert.equal(tour.workspace.text(FILE), CODE);

  const ended = tour.nextEvent(
    ({ type, ...event }) => type === 'state_changed' && 'state' in event && event.state === 'idle',
  );
  await tour.invoker.resolve({ id: 'p1', action: 'apply', revision: 2, actor: 'human', reason: '' });
  await ended;
  assert.equal(tour.workspace.text(FILE), MENDED);
  assert.match(said(tour).at(-1) ?? '', /^Now `src\/cart\.js` holds what you applied/);
});

for (const why of ['noSandbox', 'notIsolated', 'notApproved', 'untrusted'] as const)
  test(`the tour says that no test ran (${why}), and goes on`, async () => {
    const tour = inTour({ why });
    await tour.session.prompt('/tour');
    assert.match(said(tour).at(-1) ?? '', /^The test did not run by itself.*Nothing on disk has changed/);
    assert.equal(reasonOf(tour), 'The total now includes each item’s quantity.');
  });

for (const [where, files] of [
  ['another project', { 'a.txt': 'a' }],
  ['its project once it is mended', { [FILE]: MENDED }],
] as const)
  test(`in ${where}, the tour says where it works, and proposes nothing`, async () => {
    const tour = inTour({ files });
    await tour.session.prompt('/tour');
    assert.match(said(tour).at(-1) ?? '', /^This is not the small project of the tour/);
    assert.deepEqual(tour.store.list('newestFirst'), []);
    assert.deepEqual(tour.runs, []);
  });

test('after all was discarded, the tour says that the file is as it was', async () => {
  const tour = inTour();
  await tour.session.prompt('/tour');
  const ended = tour.nextEvent(
    ({ type, ...event }) => type === 'state_changed' && 'state' in event && event.state === 'idle',
  );
  await tour.invoker.resolve({
    id: 'p1',
    action: 'discard',
    revision: 1,
    actor: 'human',
    reason: 'Not today.',
  });
  await ended;
  assert.equal(said(tour).at(-1), 'Understood: “Not today”. I leave that as it is. The file is as it was.');
  assert.equal(tour.workspace.text(FILE), CODE);
});

import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { sha256 } from '../../src/agent/base/hash.ts';
import type { FileChange } from '../../src/agent/hold/preview/fileChange.ts';
import type { Preview } from '../../src/agent/hold/preview/preview.ts';
import { create, modify, textIn } from '../support/changes.ts';
import { CheckWorld } from '../support/checkWorld.ts';

const PATHS = ['a.txt', 'b.txt', 'c.txt'] as const;
/** What a file may hold; the check passes unless there is a `bad` in one of them, or `x` and no `y`. */
const TEXTS = ['good', 'bad', 'x', 'y', 'good too'] as const;

const path = fc.constantFrom(...PATHS);
const text = fc.constantFrom(...TEXTS);
const which = fc.nat({ max: 5 });
/** How many turns of the event loop pass before the next step. */
const pause = fc.nat({ max: 4 });

/** What happens in a history; votes and checks are not waited for. */
export type CheckStep = { readonly pause: number } & (
  | { readonly kind: 'stage' | 'write'; readonly path: string; readonly text: string }
  | { readonly kind: 'type' | 'revert'; readonly path: string }
  | { readonly kind: 'vote' | 'accept' | 'refuse' | 'check'; readonly which: number }
  | { readonly kind: 'revise'; readonly which: number; readonly text: string }
  | { readonly kind: 'slow' | 'mode' | 'flaky' }
);

const step: fc.Arbitrary<CheckStep> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('stage' as const), path, text, pause }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('vote' as const), which, pause }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('accept' as const, 'refuse'), which, pause }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('check' as const), which, pause }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('write' as const), path, text, pause }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('type' as const, 'revert'), path, pause }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('revise' as const), which, text, pause }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('slow' as const, 'mode', 'flaky'), pause }) },
);
export const history = fc.array(step, { minLength: 4, maxLength: 24 });

export interface CheckHistory {
  readonly violations: readonly string[];
  /** Votes of the model that landed. */
  readonly landed: number;
  /** Of these, those that landed with others. */
  readonly together: number;
  /** Votes of the model that stayed recommendations. */
  readonly refused: number;
  /** Checks during which a file changed. */
  readonly raced: number;
}

type Tree = Readonly<Record<string, string>>;

/** Plays a history, and compares each landing with what the green checks have seen. */
export async function playChecks(steps: readonly CheckStep[]): Promise<CheckHistory> {
  const violations: string[] = [];
  let [landed, together, refused, raced, slowness, flakiness] = [0, 0, 0, 0, 0, 0];
  /** What each green check has seen, from its beginning to its end. */
  const green: Tree[] = [];
  /** Counts what others write. */
  let outside = 0;
  const world = new CheckWorld('checked', {
    test: async view => {
      const look = (): Tree => Object.fromEntries(PATHS.flatMap(at => pair(at, view(at))));
      const [seen, began] = [look(), outside];
      for (let turn = 0; turn < slowness; turn++) await setImmediate();
      if (outside !== began) raced++;
      const all = Object.values(seen);
      const passes = !all.includes('bad') && (!all.includes('x') || all.includes('y'));
      const answer = flakiness-- > 0 ? !passes : passes;
      if (answer && JSON.stringify(look()) === JSON.stringify(seen)) green.push(seen);
      return answer ? 0 : 1;
    },
  });
  const { store, workspace } = world;
  for (const at of PATHS) workspace.put(at, 'good');
  store.onDidResolve(entries => {
    const mine = entries.filter(
      ({ actor, outcome, kind }) => actor === 'model' && outcome === 'applied' && kind === 'files',
    );
    if (mine.length === 0) return;
    if (world.authority !== 'checked') return;
    landed += 1;
    if (mine.length > 1) together += 1;
    // Of several that write one file, the last tells what has landed.
    const after = new Map(mine.flatMap(({ files }) => files.map(file => [file.path, file.after] as const)));
    const isSeen = green.some(tree =>
      [...after].every(([at, hash]) => (tree[at] === undefined ? null : hashOf(tree[at])) === hash),
    );
    if (!isSeen) violations.push(`${mine.map(({ previewId }) => previewId).join(', ')} landed unseen`);
    if (mine.some(({ checks }) => checks?.some(({ outcome }) => outcome === 'passed') !== true))
      violations.push('the ledger does not say what proved it');
  });
  const running: Promise<unknown>[] = [];
  const start = (work: Promise<unknown>): void => void running.push(work.catch(() => undefined));
  const pending = (): Preview[] => store.list('oldestFirst').filter(({ state }) => state.kind === 'pending');
  for (const each of steps) {
    const chosen = 'which' in each ? pending().at(each.which % Math.max(1, pending().length)) : undefined;
    switch (each.kind) {
      case 'stage': {
        const before = viewOf(world, each.path);
        if (before !== each.text) world.stage({ changes: [change(each.path, before, each.text)] });
        break;
      }
      case 'vote':
        if (chosen) {
          const vote = { id: chosen.id, revision: chosen.revision, actor: 'model', reason: 'r' } as const;
          start(
            world.invoker.resolve({ ...vote, action: 'apply' }).then(({ kind }) => {
              if (kind === 'recommended') refused += 1;
            }),
          );
        }
        break;
      case 'accept':
      case 'refuse':
        if (chosen)
          start(world.resolve({ id: chosen.id, action: each.kind === 'accept' ? 'apply' : 'discard' }));
        break;
      case 'check':
        start(world.checks.run(chosen ? world.checks.withBase(chosen) : world.all, 'human'));
        break;
      case 'revise': {
        const [first] = chosen?.changes ?? [];
        if (chosen && first?.before && store.open.dependentsOf(chosen.id).length === 0)
          start(
            store.revise(
              chosen.id,
              [modify(first.path, textIn(first.before), each.text)],
              chosen.dependsOn,
              'user',
            ),
          );
        break;
      }
      case 'write':
        outside += 1;
        world.put(each.path, each.text);
        break;
      case 'type':
        outside += 1;
        workspace.type(each.path, 'typed');
        world.files.fire();
        break;
      case 'revert':
        workspace.revert(each.path);
        world.files.fire();
        break;
      case 'slow':
        slowness = (slowness + 3) % 10;
        break;
      case 'flaky':
        flakiness = 1;
        break;
      case 'mode':
        world.authority = world.authority === 'checked' ? 'recommend' : 'checked';
        break;
    }
    for (let turn = 0; turn < each.pause; turn++) await setImmediate();
  }
  await Promise.all(running);
  await world.checks.refresh();
  for (const result of world.checks.results) {
    if (!world.checks.isCurrent(result.id) || result.outcome !== 'passed') continue;
    const left = Object.keys(result.previews).filter(id => store.get(id)?.state.kind === 'pending');
    const now = treeWith(world, left);
    if (!green.some(tree => JSON.stringify(tree) === JSON.stringify(now)))
      violations.push(`${result.id} is shown as current, and did not see the files as they are`);
  }
  world.checks.dispose();
  return { violations, landed, together, refused, raced };
}

/** What a history violates. @public */
export async function play(steps: readonly CheckStep[]): Promise<readonly string[]> {
  return (await playChecks(steps)).violations;
}

function pair(at: string, content: string | undefined): (readonly [string, string])[] {
  return content === undefined ? [] : [[at, content]];
}

function hashOf(content: string): string {
  return sha256(Buffer.from(content));
}

function change(at: string, before: string | undefined, after: string): FileChange {
  return before === undefined ? create(at, after) : modify(at, before, after);
}

/** A file as the conversation sees it. */
function viewOf(world: CheckWorld, at: string): string | undefined {
  return treeWith(
    world,
    world.store.list('oldestFirst').map(({ id }) => id),
  )[at];
}

/** The files with these previews applied. */
function treeWith({ store, workspace }: CheckWorld, ids: readonly string[]): Tree {
  const changed = new Map(
    ids
      .flatMap(id => store.get(id)?.changes ?? [])
      .map(({ path: at, after }) => [at, textIn(after)] as const),
  );
  return Object.fromEntries(
    PATHS.flatMap(at => pair(at, changed.has(at) ? changed.get(at) : workspace.text(at))),
  );
}

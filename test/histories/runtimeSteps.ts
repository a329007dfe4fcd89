import fc from 'fast-check';
import { revertCategories, type RevertCategory } from '../../src/agent/session/model/messages.ts';
import { CALLBACK_ENDS, FILE_CHANGES, TOOL_ENDS, RuntimeWorld } from './runtimeWorld.ts';
import type { CallbackEnd, Staging, ToolEnd } from './runtimeWorld.ts';
import type { ScriptedTurn } from '../support/scriptedProvider.ts';
import { rewriteSummary } from '../../src/agent/hold/text/rewriteSummary.ts';
import { loadSpecs } from '../../src/agent/session/tools/loadedSpecs.ts';

/** What an actor does next. `at` chooses among the candidates, modulo their number. */
type Deed =
  | {
      readonly type: 'answer';
      readonly text: string;
      readonly calls: readonly ModelCall[];
      readonly long: boolean;
    }
  | { readonly type: 'refuse'; readonly how: 'toolChoice' | 'badRequest' | 'server' }
  | { readonly type: 'callback' | 'disk'; readonly at: number; readonly how: CallbackEnd }
  | { readonly type: 'slowDisk'; readonly on: boolean }
  | {
      readonly type: 'vote';
      readonly actor: 'human' | 'extension';
      readonly action: 'apply' | 'discard';
      readonly at: number;
      readonly openOnly: boolean;
      readonly aborts: boolean;
      readonly chain: boolean;
      readonly outdated: boolean;
      readonly again?: boolean;
    }
  | { readonly type: 'stage'; readonly staging: Staging; readonly stager: 'extension' | 'user' | 'agent' }
  | { readonly type: 'settings'; readonly change: Partial<RuntimeWorld['settings']> }
  | { readonly type: 'planMode'; readonly on: boolean }
  | { readonly type: 'stale'; readonly at: number; readonly stale: boolean }
  | { readonly type: 'type'; readonly at: number; readonly noticed: boolean }
  | {
      readonly type: 'editor';
      readonly at: number;
      readonly how: 'type' | 'cut' | 'save' | 'drop';
      readonly noticed: boolean;
    }
  | { readonly type: 'draft'; readonly at: number; readonly file: number }
  | { readonly type: 'edit' | 'restage' | 'dismiss' | 'commitDraft'; readonly at: number }
  | {
      readonly type: 'part';
      readonly action: 'apply' | 'discard';
      readonly at: number;
      readonly file: number;
      readonly hunk: number | undefined;
    }
  /** Forgets what was resolved before the ledger entry `at`; without `at`, everything that was resolved. */
  | { readonly type: 'forget'; readonly at: number | undefined }
  | { readonly type: 'open'; readonly at: number }
  | {
      readonly type: 'crash';
      readonly at: number;
      readonly operations: number;
      readonly types: number | undefined;
      readonly logFails: boolean;
      readonly inEditor: number | undefined;
      readonly again: boolean;
      readonly losesEditors: boolean;
    }
  | { readonly type: 'failLog'; readonly times: number }
  | {
      readonly type: 'otherWindow';
      readonly staging: Staging;
      readonly vote: 'apply' | 'discard' | undefined;
    }
  | {
      readonly type: 'revert';
      readonly at: number;
      readonly to: 'trunk' | 'branch' | 'start';
      readonly category: RevertCategory | null;
    }
  | { readonly type: 'prompt' | 'continue' | 'stop' | 'new' | 'reload' | 'discardAll' };

type ModelCall =
  | {
      readonly name: 'resolve';
      readonly action: 'apply' | 'discard';
      readonly at: number | 'unknown' | undefined;
    }
  | { readonly name: 'revert'; readonly back: number; readonly category: RevertCategory }
  | { readonly name: 'amend'; readonly at: number }
  | { readonly name: 'work'; readonly stages: readonly Staging[]; readonly end: ToolEnd | 'slow' }
  | { readonly name: 'read_file' | 'nonsense' | 'malformed' };

/** A deed, and how long the world runs by itself before the next one: a number of microtasks, or until all is quiet. */
export type Step = Deed & { readonly then: number | 'quiet' };

const toolEnds = ['ok', ...TOOL_ENDS] as const;
const callbackEnd = fc.constantFrom<CallbackEnd>('ok', ...CALLBACK_ENDS);
const action = fc.constantFrom('apply', 'apply', 'discard');
const at = fc.nat(7);
const staging: fc.Arbitrary<Staging> = fc.record({
  what: fc.constantFrom(...FILE_CHANGES, 'slow', 'slow', ...CALLBACK_ENDS),
  rejects: fc.boolean(),
});
const category = fc.constantFrom(...revertCategories);
const call: fc.Arbitrary<ModelCall> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      name: fc.constant('resolve' as const),
      action,
      at: fc.oneof(fc.constant(undefined), fc.constant(undefined), at, fc.constant('unknown' as const)),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      name: fc.constant('work' as const),
      stages: fc.array(staging, { maxLength: 2 }),
      end: fc.constantFrom(...toolEnds, 'slow'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ name: fc.constant('amend' as const), at }) },
  { weight: 1, arbitrary: fc.record({ name: fc.constantFrom('read_file', 'nonsense', 'malformed') }) },
  { weight: 1, arbitrary: fc.record({ name: fc.constant('revert' as const), back: fc.nat(9), category }) },
);
const settings: fc.Arbitrary<Partial<RuntimeWorld['settings']>> = fc.record(
  {
    modelAuthority: fc.constantFrom('apply', 'apply', 'recommend', 'recommend', 'checked', 'checked', 'none'),
    order: fc.constantFrom('newestFirst', 'oldestFirst'),
    forcing: fc.constantFrom('forced', 'forced', 'auto', 'auto', 'always', 'off'),
    continueAfterReview: fc.boolean(),
    revertEnabled: fc.boolean(),
  },
  { requiredKeys: [] },
);
const deeds: readonly fc.WeightedArbitrary<Deed>[] = [
  {
    weight: 12,
    arbitrary: fc.record({
      type: fc.constant('answer' as const),
      text: fc.constantFrom('', 'Well.', '# Plan'),
      calls: fc.array(call, { maxLength: 4 }),
      long: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('refuse' as const),
      how: fc.constantFrom('toolChoice', 'badRequest', 'server'),
    }),
  },
  { weight: 6, arbitrary: fc.record({ type: fc.constant('callback' as const), at, how: callbackEnd }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('disk' as const), at, how: callbackEnd }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('slowDisk' as const), on: fc.boolean() }) },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('vote' as const),
      actor: fc.constantFrom('human', 'human', 'extension'),
      action,
      at,
      openOnly: fc.constantFrom(true, true, true, false),
      aborts: fc.constantFrom(false, false, false, true),
      chain: fc.boolean(),
      outdated: fc.constantFrom(false, false, true),
      again: fc.constantFrom(false, false, true),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('stage' as const),
      staging,
      stager: fc.constantFrom('extension', 'extension', 'user', 'agent'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('settings' as const), change: settings }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('planMode' as const), on: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('stale' as const), at, stale: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('type' as const), at, noticed: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('editor' as const),
      at,
      how: fc.constantFrom('type', 'type', 'type', 'cut', 'cut', 'save', 'drop'),
      noticed: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('draft' as const), at, file: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom('edit', 'dismiss'), at }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('commitDraft' as const), at }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('restage' as const), at }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('part' as const),
      action,
      at,
      file: fc.nat(1),
      hunk: fc.constantFrom(undefined, 0, 0, 1, 1, 2),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('forget' as const),
      at: fc.oneof(fc.constant(undefined), at),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('open' as const), at }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('crash' as const),
      at,
      operations: fc.nat(8),
      types: fc.constantFrom(undefined, undefined, 0, 1),
      logFails: fc.boolean(),
      inEditor: fc.constantFrom(undefined, undefined, 0, 1),
      again: fc.constantFrom(false, false, true),
      losesEditors: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('failLog' as const), times: fc.constantFrom(1, 1, 2, 3, 6) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('otherWindow' as const),
      staging,
      vote: fc.constantFrom('apply', 'discard', undefined),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('revert' as const),
      at: fc.nat(11),
      to: fc.constantFrom('trunk', 'trunk', 'trunk', 'branch', 'start'),
      category: fc.option(category, { nil: null }),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constantFrom(
        ...(['prompt', 'prompt', 'prompt', 'prompt', 'continue', 'stop', 'stop'] as const),
        ...(['reload', 'reload', 'reload', 'new', 'new', 'discardAll'] as const),
      ),
    }),
  },
];

const step: fc.Arbitrary<Step> = fc
  .tuple(fc.oneof(...deeds), fc.oneof(fc.constant('quiet' as const), fc.nat(12)))
  .map(([deed, then]) => ({ ...deed, then }));

/** The setup of a world and everything that happens in it. */
export interface History {
  readonly settings: Partial<RuntimeWorld['settings']>;
  /** The tool choice that the server is known to accept; `undefined` if that is learned. */
  readonly step: 'named' | 'required' | undefined;
  /** The context window of the model, in tokens; by default it is large. */
  readonly window?: number | undefined;
  /** What an extension stages before anything else happens. */
  readonly staged: readonly Staging[];
  readonly steps: readonly Step[];
  readonly ending: Ending;
}

/** Mostly short histories, because they are fast, and some long ones. */
export const history: fc.Arbitrary<History> = fc.record({
  settings,
  step: fc.constantFrom('named', 'required', undefined),
  window: fc.constantFrom(undefined, undefined, undefined, undefined, 4_000, 9_000),
  staged: fc.array(staging, { maxLength: 3 }),
  steps: fc.oneof(
    { weight: 4, arbitrary: fc.array(step, { maxLength: 12 }) },
    { weight: 1, arbitrary: fc.array(step, { maxLength: 40, size: 'max' }) },
  ),
  ending: fc.constantFrom('silent', 'appliesInVain', 'discardsInVain', 'resolves'),
});

/** What the model does once all others are done, and how the callbacks that it runs end. */
export type Ending = 'silent' | 'appliesInVain' | 'discardsInVain' | 'resolves';

/** Plays a history to its end and checks the invariants after each step. @returns their violations. */
export async function play({
  settings,
  step,
  window,
  staged,
  steps,
  ending,
}: History): Promise<readonly string[]> {
  // Else the first history would take other turns than the same one later.
  await Promise.all([
    loadSpecs(),
    import('../../src/agent/session/tools/files/amendFile.ts'),
    import('../../src/agent/session/modelPreviews.ts'),
    import('../../src/agent/session/conversation/validateRevert.ts'),
    import('../../src/agent/session/context/summary.ts'),
    rewriteSummary('a', 'a', 'b'),
  ]);
  const world = new RuntimeWorld(settings, step, window);
  const { invariants } = world;
  for (const staging of staged) world.stage(staging, 'extension');
  world.prompt();
  for (const deed of steps) {
    await perform(world, deed);
    if (deed.then === 'quiet') await quiet();
    else for (let n = 0; n < deed.then; n++) await Promise.resolve();
    invariants.checkNow();
    if (invariants.violations.length > 0) return invariants.violations;
  }
  await finish(world, ending);
  return invariants.violations;
}

async function perform(world: RuntimeWorld, deed: Deed): Promise<void> {
  const { session, store } = world.t;
  switch (deed.type) {
    case 'answer':
      return world.answer(turnOf(world, deed));
    case 'refuse':
      return world.answer(refusals[deed.how]);
    case 'callback':
      return endOne(world.running, deed.at, deed.how);
    case 'disk':
      return endOne(world.disk, deed.at, deed.how);
    case 'slowDisk':
      world.slowDisk = deed.on;
      return undefined;
    case 'vote': {
      const id = pick(world.ids(deed.openOnly), deed.at);
      if (id !== undefined) world.vote(deed.actor, id, deed.action, deed);
      return undefined;
    }
    case 'stage':
      return world.stage(deed.staging, deed.stager);
    case 'settings':
      Object.assign(world.settings, deed.change);
      return undefined;
    case 'planMode':
      return session.setPlanMode(deed.on);
    case 'stale': {
      const id = pick(world.ids(true), deed.at);
      if (id !== undefined) await store.markStale(id, deed.stale ? ['a.txt'] : []);
      return undefined;
    }
    case 'type':
      return world.type(deed.at, deed.noticed);
    case 'editor':
      return world.typeInEditor(deed.at, deed.how, deed.noticed);
    case 'edit': {
      const id = pick(world.ids(true), deed.at);
      if (id !== undefined) world.edit(id);
      return undefined;
    }
    case 'draft': {
      const id = pick(world.ids(true), deed.at);
      if (id !== undefined) world.typeDraft(id, deed.file);
      return undefined;
    }
    case 'commitDraft':
      return world.commitDraft(deed.at);
    case 'part': {
      const id = pick(world.ids(true), deed.at);
      if (id !== undefined) world.votePart(id, deed.action, deed.file, deed.hunk);
      return undefined;
    }
    case 'restage': {
      const id = pick(world.ids(false), deed.at);
      if (id !== undefined) world.restage(id);
      return undefined;
    }
    case 'dismiss': {
      const id = pick(world.ids(false), deed.at);
      if (id !== undefined) world.dismiss(id);
      return undefined;
    }
    case 'failLog':
      return world.failLog(deed.times);
    case 'otherWindow':
      return world.otherWindow(deed.staging, deed.vote);
    case 'crash': {
      const id = pick(world.ids(true), deed.at);
      return id === undefined ? undefined : world.crash(id, deed);
    }
    case 'open':
      return world.open(deed.at);
    case 'revert':
      return world.revert(deed);
    case 'prompt':
      return world.prompt();
    case 'continue':
      return world.continue();
    case 'stop':
      return world.stop();
    case 'new':
      return world.new();
    case 'reload':
      return world.reload();
    case 'discardAll':
      return world.discardAll();
    case 'forget':
      return world.forget(deed.at);
  }
}

const refusals: Record<'toolChoice' | 'badRequest' | 'server', ScriptedTurn> = {
  toolChoice: { error: { code: 'badRequest', message: 'tool_choice is not supported' } },
  badRequest: { error: { code: 'badRequest', message: 'No.' } },
  server: { error: {} },
};

function turnOf(world: RuntimeWorld, { text, calls, long }: Extract<Deed, { type: 'answer' }>): ScriptedTurn {
  const toolCalls = calls.map(call => {
    switch (call.name) {
      case 'resolve': {
        const known = typeof call.at === 'number' ? pick(world.ids(false), call.at) : undefined;
        const id = call.at === 'unknown' ? 'p999' : known;
        const extra = text === '# Plan' ? { extra: { title: 'T' } } : {};
        return {
          name: 'resolve',
          arguments: { action: call.action, reason: 'r', ...extra, ...(id ? { id } : {}) },
        };
      }
      case 'revert': {
        const step = `n${Math.max(0, world.t.session.tree.nextId - 1 - call.back)}`;
        return { name: 'revert_to_state', arguments: { category: call.category, step } };
      }
      case 'amend':
        return { name: 'edit_file', arguments: world.amendment(pick(world.ids(false), call.at)) };
      case 'work':
        return { name: 'work', arguments: { stages: call.stages, end: call.end } };
      case 'read_file':
        return { name: 'read_file', arguments: { path: 'a.txt' } };
      case 'nonsense':
        return { name: 'nonsense', arguments: {} };
      case 'malformed':
        return { name: 'resolve', arguments: '{"action"' };
    }
  });
  return { text, toolCalls, ...(long ? { stopReason: 'length' as const } : {}) };
}

/**
 * Lets all callbacks and disk operations end while the model does the same thing again and again. Whatever that is, the
 * session must come to rest after a number of requests that is bounded by the number of previews.
 */
async function finish(world: RuntimeWorld, ending: Ending): Promise<void> {
  const { invariants } = world;
  const inVain = ending === 'appliesInVain' || ending === 'discardsInVain';
  world.slowDisk = false;
  world.failLog(0);
  let asked = 0;
  for (await atRest(world, () => world.isAsked); ; await atRest(world, () => world.isAsked)) {
    if (world.disk.length > 0) endOne(world.disk, 0, 'ok');
    else if (world.running.length > 0) endOne(world.running, 0, inVain ? 'error' : 'ok');
    else if (world.isAsked) {
      world.answer(finalTurn(world, ending));
      if (++asked > 12 * (world.staged + 1))
        return invariants.check(false, () => `I4: the model is asked forever (${ending})`);
    } else break;
    invariants.checkNow();
  }
  invariants.checkAtRest();
  invariants.check(world.faults.length === 0, () => `logged: ${world.faults.join('; ')}`);
  invariants.check(world.openVotes.size === 0, () => `${world.openVotes.size} votes were never answered`);
}

function finalTurn(world: RuntimeWorld, ending: Ending): ScriptedTurn {
  const isForced = world.t.requests.at(-1)?.toolChoice !== undefined;
  if (ending === 'silent' || !isForced) return { text: 'Done.' };
  const vote = ending === 'discardsInVain' ? 'discard' : 'apply';
  return { toolCalls: [{ name: 'resolve', arguments: { action: vote, reason: 'r' } }] };
}

function endOne(waiting: { end(how: CallbackEnd): void }[], at: number, how: CallbackEnd): void {
  const [one] = waiting.splice(at % Math.max(1, waiting.length), 1);
  one?.end(how);
}

function pick(ids: readonly string[], at: number): string | undefined {
  return ids[at % Math.max(1, ids.length)];
}

/** Waits until nothing happens by itself any more. */
function quiet(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve));
}

/** The same where a tool may be at work that lets others run in between. */
async function atRest({ t, running, disk }: RuntimeWorld, isAsked: () => boolean): Promise<void> {
  await quiet();
  const isWorking = (): boolean =>
    t.session.state === 'running' && !isAsked() && running.length + disk.length === 0;
  for (let n = 0; n < 50 && isWorking(); n++) await quiet();
}

import fc from 'fast-check';
import { english } from '../../src/agent/base/localiser.ts';
import { silentLogger } from '../../src/agent/base/logger.ts';
import { CommandRuns } from '../../src/agent/sandbox/commands/commandRuns.ts';
import type { Sandbox } from '../../src/agent/sandbox/commands/sandbox.ts';
import type { ForeignFile } from '../../src/agent/hold/external/foreignChange.ts';
import { hashOf } from '../../src/agent/hold/preview/commit/held.ts';
import { isLink, isText, sideOfText, type FileChange } from '../../src/agent/hold/preview/fileChange.ts';
import { stepsOf } from '../../src/agent/hold/preview/fileSteps.ts';
import { Overlay, type PendingContents } from '../../src/agent/hold/preview/overlay.ts';
import type { PendingAction } from '../../src/agent/hold/preview/pendingAction.ts';
import type { Actor, Preview } from '../../src/agent/hold/preview/preview.ts';
import type { PreviewStore } from '../../src/agent/hold/preview/previewStore.ts';
import { queueResolveHandler } from '../../src/agent/hold/preview/queueResolveHandler.ts';
import { Rebaser } from '../../src/agent/hold/preview/rebase/rebaser.ts';
import { Invoker } from '../../src/agent/hold/preview/resolve/invoker.ts';
import { runInSandbox } from '../../src/agent/session/tools/command/runInSandbox.ts';
import { modify, textIn } from '../support/changes.ts';
import {
  addition,
  inMemory,
  LINES,
  PATHS,
  textAt,
  TEXTS,
  touched,
  wholeOf,
  WHOLES,
  type Act,
  type Deeds,
  type SandboxPlace,
} from './sandboxPlaces.ts';
import { MemoryPreviewLog, restoredStore } from '../support/testSession.ts';

const SESSION = 's1';
/** The permission bits of new files. */
const NEW_BITS = 0o644;

/** What happens next. `at` chooses among the candidates, modulo their number; `line` is where a text is changed. */
type Deed =
  | { readonly type: 'propose' | 'save'; readonly path: number; readonly line: number }
  /** The user puts a link, a binary file or nothing somewhere. */
  | { readonly type: 'put'; readonly path: number; readonly what: 'link' | 'bytes' | 'nothing' }
  | { readonly type: 'chmod'; readonly path: number }
  /** A person lets a command start. */
  | { readonly type: 'command'; readonly acts: readonly Act[]; readonly line: number }
  | { readonly type: 'end' | 'stop' | 'edit'; readonly at: number }
  | {
      readonly type: 'vote';
      readonly at: number;
      readonly action: 'apply' | 'discard';
      readonly actor: Actor;
    };

/** A deed, and how long the world runs by itself before the next one: a number of microtasks, or until all is quiet. */
type Step = Deed & { readonly then: number | 'quiet' };

const [at, line] = [fc.nat(5), fc.nat(LINES - 1)];
const [text, whole, path] = [TEXTS, WHOLES, PATHS].map(({ length }) => fc.nat(length - 1)) as [
  fc.Arbitrary<number>,
  fc.Arbitrary<number>,
  fc.Arbitrary<number>,
];
const what = fc.constantFrom('link' as const, 'bytes' as const, 'nothing' as const);
const setsBits = fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.constant(true));
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      path: fc.constantFrom(...TEXTS),
      does: fc.constantFrom('line', 'line', 'same'),
      setsBits,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      path: fc.constantFrom(...WHOLES),
      does: fc.constantFrom('link', 'bytes', 'bytes', 'nothing', 'same'),
      setsBits,
    }),
  },
);
const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constantFrom('propose', 'save'), path: text, line }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('put' as const), path: whole, what }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('chmod' as const), path }) },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('command' as const),
      acts: fc.uniqueArray(act, { minLength: 1, maxLength: 3, selector: each => each.path }),
      line,
    }),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constantFrom('end', 'end', 'end', 'stop'), at }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('edit' as const), at }) },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('vote' as const),
      at,
      action: fc.constantFrom('apply', 'apply', 'discard'),
      actor: fc.constantFrom<Actor[]>('human', 'human', 'model'),
    }),
  },
);

/** Commands in the sandbox among proposals, votes and what the person saves. */
export const history: fc.Arbitrary<readonly Step[]> = fc.array(
  fc
    .tuple(deed, fc.oneof(fc.constant('quiet' as const), fc.nat(12)))
    .map(([one, then]): Step => ({ ...one, then })),
  { maxLength: 14 },
);

/** A command that runs, with what it changes. */
interface Command extends Deeds {
  /** What came of it: those without conflicts, and those with. */
  readonly staged: Preview[][];
  /** The hashes of what a path has held since it ended, in the view that its changes are brought into. */
  readonly seen: Map<string, Set<string | null>>;
  /** What the engine says that it changed, by path. */
  effects: ReadonlyMap<string, ForeignFile>;
}

/**
 * Plays a history to its end, and checks that nothing on disk changes except by an apply or what the person does, and that what
 * a command leaves becomes one preview, or one more with its conflicts, made on what there is and built on the pending ones that
 * it touched.
 * @returns what does not hold
 */
export async function playInSandbox(place: SandboxPlace, steps: readonly Step[]): Promise<readonly string[]> {
  const world = new World(place);
  for (const step of steps) {
    world.perform(step);
    if (step.then === 'quiet') await place.quiet();
    else for (let n = 0; n < step.then; n++) await Promise.resolve();
  }
  await world.finish();
  return world.violations;
}

class World {
  readonly violations: string[] = [];
  readonly #place: SandboxPlace;
  readonly #store: PreviewStore = restoredStore(new MemoryPreviewLog());
  readonly #invoker: Invoker;
  readonly #overlay: Overlay;
  readonly #rebaser: Rebaser;
  readonly #runs = new CommandRuns();
  readonly #running = new Map<string, Command>();
  readonly #stops = new Map<string, () => void>();
  /** What commands made, by the previews of it. */
  readonly #made = new Map<string, readonly FileChange[]>();
  /** What the person put at each path, and what was there at the beginning, by hash. */
  readonly #saved = new Map<string, Set<string | null>>();
  /** The permission bits that the person set, and those of the beginning. */
  readonly #bits = new Set<number | undefined>([NEW_BITS]);
  #open = new Set<Promise<unknown>>();
  #count = 0;

  constructor(place: SandboxPlace) {
    this.#place = place;
    const [store, { workspace }] = [this.#store, place];
    this.#invoker = new Invoker(store, workspace, () => 'apply');
    this.#overlay = new Overlay(store);
    this.#rebaser = new Rebaser({ store, workspace, logger: silentLogger });
    place.put('link', { link: 'a.txt' });
    place.put('pic.bin', wholeOf('bytes', 'old'), NEW_BITS);
    for (const name of TEXTS) place.put(name, place.at(name), NEW_BITS);
    for (const name of PATHS) this.#saved.set(name, new Set([hashAt(place, name)]));
    store.onDidChange(preview => {
      // A text may be in the view for a moment only: while a vote on a preview whose base has changed is under way, for example.
      this.#look();
      this.#isAsMade(preview);
    });
    place.onWrite(name => this.#written(name));
  }

  perform(step: Step): void {
    const count = ++this.#count;
    switch (step.type) {
      case 'propose': {
        const name = TEXTS[step.path] ?? 'a.txt';
        const now = this.#textInView(name);
        this.#stage({
          label: `proposal ${count}`,
          sourceToolName: 'test',
          changes: [modify(name, now, touched(now, step.line, `p${count}`))],
        });
        return;
      }
      case 'save': {
        const name = TEXTS[step.path] ?? 'a.txt';
        return this.#put(name, Buffer.from(touched(textAt(this.#place, name), step.line, `s${count}`)));
      }
      case 'put':
        return this.#put(WHOLES[step.path] ?? 'link', wholeOf(step.what, `s${count}`));
      case 'chmod': {
        const name = PATHS[step.path] ?? 'a.txt';
        if (this.#place.bitsAt(name) === undefined) return;
        this.#bits.add(bitsOf(count));
        return this.#put(name, this.#place.at(name), bitsOf(count));
      }
      case 'command':
        return this.#command(step.acts, step.line);
      case 'end':
        return this.#place.end(step.at);
      case 'stop': {
        const ids = [...this.#running.keys()];
        const id = ids[step.at % Math.max(1, ids.length)];
        if (id !== undefined) this.#stops.get(id)?.();
        return;
      }
      case 'edit': {
        const preview = this.#pick(step.at);
        const [first, ...others] = preview?.changes ?? [];
        if (preview?.state.kind !== 'pending' || first?.kind !== 'modify' || !isText(first.after)) return;
        const after = sideOfText(touched(first.after.text, 0, `e${count}`));
        void this.#store.revise(preview.id, [{ ...first, after }, ...others], preview.dependsOn, 'user');
        return;
      }
      case 'vote': {
        const preview = this.#pick(step.at);
        if (preview) this.#vote(preview.id, step.action, step.actor);
      }
    }
  }

  async finish(): Promise<void> {
    for (let n = 0; this.#open.size > 0; n++) {
      this.#place.end(0);
      await this.#place.quiet();
      if (n > 10_000) return void this.violations.push('something never ends');
    }
    const applied = this.#store
      .all()
      .flatMap(({ state, changes }) => (state.kind === 'applied' ? (changes ?? []) : []));
    const bits = new Set([...this.#bits, ...applied.map(bitsIn)]);
    for (const name of PATHS) {
      const known = new Set(this.#saved.get(name));
      for (const step of applied.flatMap(stepsOf))
        if (step.path === name) known.add(step.after?.hash ?? null);
      this.#check(
        known.has(hashAt(this.#place, name)),
        () => `${name} is on disk what no one saved or applied`,
      );
      const found = this.#place.bitsAt(name);
      this.#check(
        found === undefined || bits.has(found),
        () => `${name} has permission bits that no one set or applied`,
      );
    }
    for (const { actor, outcome, previewId } of this.#store.ledger()) {
      const makesLink = this.#store.get(previewId)?.changes?.some(({ after }) => after && isLink(after));
      this.#check(
        actor !== 'model' || outcome !== 'applied' || !makesLink,
        () => `the model made a link by ${previewId}`,
      );
    }
  }

  /** Notes what the files hold in the view now. */
  #look(): void {
    for (const { seen } of this.#running.values())
      for (const name of PATHS) seen.get(name)?.add(this.#hashInView(name));
  }

  /** The person changes what stands at a path. */
  #put(name: string, content: ReturnType<SandboxPlace['at']>, bits?: number): void {
    this.#place.put(name, content, bits);
    this.#look();
    this.#saved.get(name)?.add(hashAt(this.#place, name));
    this.#track(this.#rebaser.filesChanged([name]));
  }

  #command(acts: readonly Act[], line: number): void {
    const name = `c${this.#count}`;
    const command: Command = {
      name,
      acts,
      line,
      bits: bitsOf(this.#count),
      staged: [[], []],
      seen: new Map(),
      effects: new Map(),
    };
    const plan = this.#place.commandFor({ name, acts, line, bits: command.bits });
    const preview = this.#stage({
      label: `Run ${name}`,
      sourceToolName: 'run_command',
      purpose: 'command',
      humanOnly: true,
      apply: async () => {
        const run = this.#runs.start(preview.id, 3_600_000);
        this.#running.set(preview.id, command);
        this.#stops.set(preview.id, () => run.stop());
        const view = this.#overlay.of(SESSION);
        const [pending, workspace] = [view, view.on(this.#place.workspace)];
        const followUp = (action: PendingAction): Preview => this.#followUp(command, action);
        try {
          const sandbox: Sandbox = {
            engine: this.#place.sandbox.engine,
            isolated: this.#place.sandbox.isolated,
            isBusy: false,
            readIgnored: () => Promise.resolve(undefined),
            reset: () => Promise.resolve(),
            dispose: () => Promise.resolve(),
            run: async (...args) => {
              this.#findsBits(name, args[1]);
              const end = await this.#place.sandbox.run(...args);
              for (const each of PATHS) command.seen.set(each, new Set([this.#hashInView(each)]));
              command.effects = new Map(end.effects.map(effect => [effect.path, effect]));
              return end;
            },
          };
          const result = await runInSandbox(sandbox, plan, run, { pending, workspace, followUp });
          this.#hasAll(command, JSON.stringify(result.content));
          return result;
        } finally {
          run.end();
          this.#running.delete(preview.id);
        }
      },
    });
    this.#vote(preview.id, 'apply', 'human');
  }

  /** The permission bits that a command finds are those that files would have if what is pending were applied. */
  #findsBits(command: string, pending: PendingContents): void {
    const previews = this.#store.list('oldestFirst').filter(({ kind, state }) => {
      return kind === 'files' && isOpenState(state) && !(state.kind === 'pending' && state.stale.length > 0);
    });
    for (const name of pending.paths()) {
      const changes = previews.flatMap(each => each.changes ?? []).filter(change => change.path === name);
      // A link has no bits, and what takes its place gets those of a new file.
      if (changes.some(({ before, after }) => !after || isLink(after) || (before && isLink(before))))
        continue;
      const expected = changes.map(bitsIn).findLast(bits => bits !== undefined);
      const found = pending.at(name)?.mode;
      this.#check(found === expected, () => `${command} finds other permission bits of ${name}`);
    }
  }

  #followUp(command: Command, action: PendingAction): Preview {
    const { name, staged, seen } = command;
    const isConflict = action.label.startsWith('Conflicts');
    const beneath = new Map(PATHS.map(each => [each as string, this.#overlay.of(SESSION).at(each)]));
    const preview = this.#stage(action);
    const group = staged[isConflict ? 1 : 0] ?? [];
    group.push(preview);
    this.#made.set(preview.id, preview.changes ?? []);
    this.#check(group.length === 1, () => `${name} became ${group.length} previews`);
    for (const change of preview.changes ?? []) {
      const before = change.before?.hash ?? null;
      const isKnown = seen.get(change.path)?.has(before) === true;
      this.#check(isKnown, () => `${preview.id} is made on what ${change.path} never held`);
      this.#isOwnChange(preview.id, change, isConflict, command);
      const pending = beneath.get(change.path);
      if (pending && (pending.side?.hash ?? null) === before)
        this.#check(
          preview.dependsOn.includes(pending.previewId),
          () => `${preview.id} does not build on ${pending.previewId}, on which it is made`,
        );
    }
    return preview;
  }

  /** It is what the command did to what it found, and nothing else. What it did not find as it is now is a conflict. */
  #isOwnChange(id: string, change: FileChange, isConflict: boolean, command: Command): void {
    const { path: name, before, after } = change;
    const [does, effect] = [command.acts.find(each => each.path === name), command.effects.get(name)];
    if (!does || !effect) return void this.violations.push(`${command.name} did not touch ${name}`);
    if (does.does === 'line' && !isConflict) {
      const parts = (textIn(after) ?? '').split(addition(command.name));
      const isIt = parts.length === 2 && parts.join('') === textIn(before);
      this.#check(isIt, () => `${id} does not add just ${command.name} to ${name}`);
    } else if (does.does === 'same')
      this.#check(
        before?.hash === after?.hash,
        () => `${id} changes the content of ${name}, and not only its bits`,
      );
    else if (does.does !== 'line') {
      const isLeft = (after?.hash ?? null) === hashOf(wholeOf(does.does, command.name) ?? undefined);
      this.#check(isLeft, () => `${id} makes of ${name} what ${command.name} did not`);
      const isAsFound = !effect.isBaseUnknown && hashOf(effect.base ?? undefined) === (before?.hash ?? null);
      this.#check(
        isAsFound !== isConflict,
        () =>
          `${id} is ${isConflict ? 'a' : 'no'} conflict in ${name}, which is ${isAsFound ? '' : 'not '}as it was found`,
      );
    }
    const hasBits = after !== null && !isLink(after);
    const expected = does.setsBits && hasBits ? command.bits : undefined;
    // Where it is not known what the command found, bits that it kept may be others than those of the file now.
    if (expected !== undefined || !isConflict)
      this.#check(
        bitsIn(change) === expected,
        () => `${id} sets other permission bits of ${name} than ${command.name}`,
      );
  }

  /** Each file that it changed is in one of its previews, or named; but for what was so then, and bits of what was no file then. */
  #hasAll({ name, effects, staged, seen }: Command, told: string): void {
    const changed = staged.flat().flatMap(({ changes }) => (changes ?? []).flatMap(stepsOf));
    for (const [each, { base, theirs, mode }] of effects) {
      if (changed.some(step => step.path === each) || told.includes(each)) continue;
      const [found, left] = [hashOf(base ?? undefined), hashOf(theirs ?? undefined)];
      const held = seen.get(each) ?? new Set();
      const isSo = held.has(left) && mode === undefined;
      const isGone = found === left && (held.size > 1 || !held.has(left));
      this.#check(isSo || isGone, () => `nothing came of what ${name} did to ${each}`);
    }
  }

  /** What a command made of a path as a whole, and permission bits, stay what they are when the preview is brought up to date. */
  #isAsMade({ id, changes, state }: Preview): void {
    const made = this.#made.get(id);
    for (const change of made ? (changes ?? []) : []) {
      const first = made?.find(({ path: name }) => name === change.path);
      const isSame = first?.after && !isText(first.after) ? change.after?.hash === first.after.hash : true;
      this.#check(
        first !== undefined && isSame && bitsIn(change) === bitsIn(first),
        () => `${id} is no longer what was made of ${change.path}`,
      );
      if (state.kind === 'applied') this.#hasItsBits(id, change);
    }
  }

  /** When it has just been applied, its bits are on disk, unless another one or the person has set others. */
  #hasItsBits(id: string, change: FileChange): void {
    const bits = bitsIn(change);
    const found = this.#place.bitsAt(change.path);
    if (bits === undefined || found === bits || hashAt(this.#place, change.path) !== change.after?.hash)
      return;
    const others = this.#store
      .all()
      .filter(({ state }) => state.kind === 'applied' || state.kind === 'applying')
      .flatMap(preview => (preview.id === id ? [] : (preview.changes ?? []).map(bitsIn)));
    const isSet = found !== NEW_BITS && (this.#bits.has(found) || others.includes(found));
    this.#check(isSet, () => `${change.path} has not the permission bits of ${id}, which was applied`);
  }

  #stage(action: PendingAction): Preview {
    const host = {
      store: this.#store,
      invoker: this.#invoker,
      overlay: this.#overlay,
      l10n: english,
    };
    return queueResolveHandler(host, action, { sessionId: SESSION, asksModel: false }).preview;
  }

  #vote(id: string, action: 'apply' | 'discard', actor: Actor): void {
    this.#track(this.#invoker.resolve({ id, action, reason: 'r', actor }).catch(() => undefined));
  }

  #written(name: string): void {
    const writers = this.#store
      .list('oldestFirst')
      .filter(({ state, kind }) => state.kind === 'applying' && kind === 'files');
    const steps = writers.flatMap(({ changes }) => (changes ?? []).flatMap(stepsOf));
    this.#check(
      steps.some(step => step.path === name),
      () => `${name} is written, and nothing with it is applied`,
    );
  }

  #textInView(name: string): string {
    return textIn(this.#overlay.of(SESSION).at(name)?.side ?? null) ?? textAt(this.#place, name);
  }

  #hashInView(name: string): string | null {
    const pending = this.#overlay.of(SESSION).at(name);
    return pending ? (pending.side?.hash ?? null) : hashAt(this.#place, name);
  }

  /** A preview of files. */
  #pick(position: number): Preview | undefined {
    const all = this.#store.list('oldestFirst').filter(({ kind }) => kind === 'files');
    return all[position % Math.max(1, all.length)];
  }

  #track(work: Promise<unknown>): void {
    this.#open.add(work);
    void work.finally(() => this.#open.delete(work));
  }

  #check(holds: boolean, sentence: () => string): void {
    if (!holds) this.violations.push(sentence());
  }
}

function isOpenState({ kind }: Preview['state']): boolean {
  return kind === 'pending' || kind === 'applying';
}

function hashAt(place: SandboxPlace, name: string): string | null {
  return hashOf(place.at(name) ?? undefined);
}

/** The bits that whoever does something sets: each time others, by its number. */
function bitsOf(count: number): number {
  return 0o700 + (count % 0o77);
}

function bitsIn(change: FileChange): number | undefined {
  return 'mode' in change ? change.mode : undefined;
}

/** Plays a history in memory. @public */
export function play(steps: readonly Step[]): Promise<readonly string[]> {
  return playInSandbox(inMemory(), steps);
}

import fc from 'fast-check';
import { ToolError } from '../../src/agent/base/errors.ts';
import { english } from '../../src/agent/base/localiser.ts';
import { silentLogger } from '../../src/agent/base/logger.ts';
import type { CommandPlan } from '../../src/agent/commands/commandPlan.ts';
import { CommandRuns } from '../../src/agent/commands/commandRuns.ts';
import type { Sandbox, SandboxEnd } from '../../src/agent/commands/sandbox.ts';
import type { ForeignFile } from '../../src/agent/elsewhere/foreignChange.ts';
import { sideOfText, stepsOf, type FileChange } from '../../src/agent/preview/fileChange.ts';
import { Overlay, type PendingContents } from '../../src/agent/preview/overlay.ts';
import type { PendingAction } from '../../src/agent/preview/pendingAction.ts';
import type { Preview } from '../../src/agent/preview/preview.ts';
import type { PreviewStore } from '../../src/agent/preview/previewStore.ts';
import { queueResolveHandler } from '../../src/agent/preview/queueResolveHandler.ts';
import { Rebaser } from '../../src/agent/preview/rebase/rebaser.ts';
import { Invoker } from '../../src/agent/preview/resolve/invoker.ts';
import type { ResolvingFiles } from '../../src/agent/preview/resolve/refusals.ts';
import type { Workspace } from '../../src/agent/preview/workspace.ts';
import { runInSandbox } from '../../src/agent/tools/command/runInSandbox.ts';
import { modify, textIn } from './changes.ts';
import { DiskWorkspace } from './diskWorkspace.ts';
import { MemoryWorkspace } from './memoryWorkspace.ts';
import type { SandboxWorld } from './sandboxWorld.ts';
import { MemoryPreviewLog, restoredStore } from './testSession.ts';

const PATHS = ['a.txt', 'src/b.txt'] as const;
const LINES = 12;
const SESSION = 's1';

/** What happens next. `at` chooses among the candidates, modulo their number; `line` is where a text is changed. */
type Deed =
  | { readonly type: 'propose' | 'save'; readonly path: number; readonly line: number }
  /** A person lets a command start. It changes both files, or one. */
  | { readonly type: 'command'; readonly paths: readonly number[]; readonly line: number }
  | { readonly type: 'end' | 'stop' | 'edit'; readonly at: number }
  | { readonly type: 'vote'; readonly at: number; readonly action: 'apply' | 'discard' };

/** A deed, and how long the world runs by itself before the next one: a number of microtasks, or until all is quiet. */
type Step = Deed & { readonly then: number | 'quiet' };

const [at, path, line] = [fc.nat(5), fc.nat(PATHS.length - 1), fc.nat(LINES - 1)];
const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constantFrom('propose', 'save'), path, line }) },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('command' as const),
      paths: fc.uniqueArray(path, { minLength: 1 }),
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
      action: fc.constantFrom('apply', 'discard'),
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
interface Command {
  readonly name: string;
  readonly paths: readonly string[];
  readonly line: number;
  /** What came of it: those without conflicts, and those with. */
  readonly staged: Preview[][];
  /** The texts that a path has had since it ended, in the view that its changes are brought into. */
  readonly seen: Map<string, Set<string>>;
}

/** Where commands run, and the files: in memory, or on disk. */
export interface SandboxPlace {
  readonly workspace: Workspace & ResolvingFiles;
  readonly sandbox: Sandbox;
  /** The command that changes these paths, as its engine understands it. */
  commandFor(paths: readonly string[], line: number, name: string): CommandPlan;
  /** What a file on disk holds now. */
  textOf(path: string): string;
  save(path: string, text: string): void;
  /** Lets one of the running commands end. */
  end(at: number): void;
  /** Called before a file is written. */
  onWrite(check: (path: string) => void): void;
  /** When nothing happens by itself any more, but for commands that wait for {@link end}. */
  quiet(): Promise<void>;
}

/** The files at the beginning of a history. */
export const FILES: Readonly<Record<string, string>> = Object.fromEntries(
  PATHS.map(name => [name, Array.from({ length: LINES }, (_, n) => `${n}\n`).join('')]),
);

/**
 * Plays a history to its end, and checks that nothing on disk changes except by an apply or the person's save, and that what a
 * command leaves becomes one preview, or one more with its conflicts, made on what there is and built on the pending ones that it
 * touched.
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
  /** What was saved, and what was there at the beginning. */
  readonly #saved = new Set(Object.values(FILES));
  #open = new Set<Promise<unknown>>();
  #count = 0;

  constructor(place: SandboxPlace) {
    this.#place = place;
    const [store, { workspace }] = [this.#store, place];
    this.#invoker = new Invoker(store, workspace, () => 'apply');
    this.#overlay = new Overlay(store);
    this.#rebaser = new Rebaser({ store, workspace, logger: silentLogger });
    // A text may be in the view for a moment only: while a vote on a preview whose base has changed is under way, for example.
    store.onDidChange(() => this.#look());
    place.onWrite(name => this.#written(name));
  }

  perform(step: Step): void {
    switch (step.type) {
      case 'propose': {
        const name = PATHS[step.path] ?? 'a.txt';
        const now = this.#textInView(name);
        this.#stage({
          ...{ label: `proposal ${++this.#count}`, sourceToolName: 'test' },
          changes: [modify(name, now, touched(now, step.line, `p${this.#count}`))],
        });
        return;
      }
      case 'save': {
        const name = PATHS[step.path] ?? 'a.txt';
        const text = touched(this.#place.textOf(name), step.line, `s${++this.#count}`);
        this.#place.save(name, text);
        this.#look();
        this.#saved.add(text);
        this.#track(this.#rebaser.filesChanged([name]));
        return;
      }
      case 'command':
        return this.#command(
          step.paths.map(each => PATHS[each] ?? 'a.txt'),
          step.line,
        );
      case 'end':
        return this.#place.end(step.at);
      case 'stop': {
        const ids = [...this.#running.keys()];
        const id = ids[step.at % Math.max(1, ids.length)];
        if (id !== undefined) this.#stops.get(id)?.();
        return;
      }
      case 'edit': {
        const preview = this.#pick(step.at, ({ kind }) => kind === 'files');
        const [first, ...others] = preview?.changes ?? [];
        if (preview?.state.kind !== 'pending' || first?.kind !== 'modify') return;
        const after = sideOfText(touched(textIn(first.after), 0, `e${++this.#count}`));
        void this.#store.revise(preview.id, [{ ...first, after }, ...others], preview.dependsOn, 'user');
        return;
      }
      case 'vote': {
        const preview = this.#pick(step.at, ({ kind }) => kind === 'files');
        if (preview) this.#vote(preview.id, step.action);
      }
    }
  }

  /** Notes what the files hold in the view now. */
  #look(): void {
    for (const { seen } of this.#running.values())
      for (const name of PATHS) seen.get(name)?.add(this.#textInView(name));
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
    const texts = new Set([
      ...this.#saved,
      ...applied.flatMap(stepsOf).map(({ after }) => textIn(after) ?? ''),
    ]);
    for (const name of PATHS)
      this.#check(
        texts.has(this.#place.textOf(name)),
        () => `${name} is on disk what no one saved or applied`,
      );
  }

  #command(paths: readonly string[], line: number): void {
    const name = `c${++this.#count}`;
    const command: Command = { name, paths, line, staged: [[], []], seen: new Map() };
    const plan = this.#place.commandFor(paths, line, name);
    const preview = this.#stage({
      ...{ label: `Run ${name}`, sourceToolName: 'run_command', purpose: 'command', humanOnly: true },
      apply: async () => {
        const run = this.#runs.start(preview.id, 3_600_000);
        this.#running.set(preview.id, command);
        this.#stops.set(preview.id, () => run.stop());
        const view = this.#overlay.of(SESSION);
        const [pending, workspace] = [view, view.on(this.#place.workspace)];
        const followUp = (action: PendingAction): Preview => this.#followUp(command, action);
        try {
          const sandbox: Sandbox = {
            ...{ engine: this.#place.sandbox.engine, isolated: this.#place.sandbox.isolated },
            dispose: () => Promise.resolve(),
            run: async (...args) => {
              const end = await this.#place.sandbox.run(...args);
              for (const each of PATHS) command.seen.set(each, new Set([this.#textInView(each)]));
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
    this.#vote(preview.id, 'apply');
  }

  #followUp(command: Command, action: PendingAction): Preview {
    const { name, paths, staged, seen } = command;
    const isConflict = action.label.startsWith('Conflicts');
    const beneath = new Map(PATHS.map(each => [each as string, this.#overlay.of(SESSION).at(each)]));
    const preview = this.#stage(action);
    const group = staged[isConflict ? 1 : 0] ?? [];
    group.push(preview);
    this.#check(group.length === 1, () => `${name} became ${group.length} previews`);
    for (const change of preview.changes ?? []) {
      this.#check(paths.includes(change.path), () => `${name} did not touch ${change.path}`);
      const before = textIn(change.before) ?? '';
      const texts = seen.get(change.path) ?? new Set([this.#textInView(change.path)]);
      this.#check(texts.has(before), () => `${preview.id} is made on a text that ${change.path} never had`);
      if (!isConflict) this.#isOwnChange(preview.id, change, command);
      const pending = beneath.get(change.path);
      if (pending?.side && pending.side.hash === change.before?.hash)
        this.#check(
          preview.dependsOn.includes(pending.previewId),
          () => `${preview.id} does not build on ${pending.previewId}, on which it is made`,
        );
    }
    return preview;
  }

  /** What it found, with its own addition and nothing else. */
  #isOwnChange(id: string, { path: name, before, after }: FileChange, command: Command): void {
    const parts = (textIn(after) ?? '').split(addition(command.name));
    const isIt = parts.length === 2 && parts.join('') === textIn(before);
    this.#check(isIt, () => `${id} does not add just ${command.name} to ${name}`);
  }

  /** Each file that it changed is in one of its previews, or named. */
  #hasAll({ name, paths, staged }: Command, told: string): void {
    const changed = staged.flat().flatMap(({ changes }) => (changes ?? []).flatMap(stepsOf));
    if (told.includes('It was stopped') || told.includes('The user stopped')) return;
    for (const each of paths)
      this.#check(
        changed.some(step => step.path === each) || told.includes(each),
        () => `nothing came of what ${name} did to ${each}`,
      );
  }

  #stage(action: PendingAction): Preview {
    const host = {
      ...{ store: this.#store, invoker: this.#invoker, overlay: this.#overlay, l10n: english },
    };
    return queueResolveHandler(host, action, { sessionId: SESSION, asksModel: false }).preview;
  }

  #vote(id: string, action: 'apply' | 'discard'): void {
    const request = { id, action, reason: 'r', actor: 'human' } as const;
    this.#track(this.#invoker.resolve(request).catch(() => undefined));
  }

  #written(name: string): void {
    const writers = this.#store
      .list('oldestFirst')
      .filter(({ state, kind }) => state.kind === 'applying' && kind === 'files');
    const texts = writers.flatMap(({ changes }) =>
      (changes ?? []).flatMap(stepsOf).filter(step => step.path === name),
    );
    this.#check(texts.length > 0, () => `${name} is written, and nothing with it is applied`);
  }

  #textInView(name: string): string {
    return textIn(this.#overlay.of(SESSION).at(name)?.side ?? null) ?? this.#place.textOf(name);
  }

  #pick(position: number, isWanted: (preview: Preview) => boolean): Preview | undefined {
    const all = this.#store.list('oldestFirst').filter(isWanted);
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

/** The text with something added to a line. */
export function touched(text: string, line: number, what: string): string {
  const lines = text.split('\n');
  lines[line] = `${lines[line] ?? ''}${addition(what)}`;
  return lines.join('\n');
}

function addition(what: string): string {
  return ` <${what}>`;
}

/** Files in memory, and an engine that does what an overlay does: it shows the disk as it is, and what was pending at the start. */
export function inMemory(): SandboxPlace {
  const workspace = new MemoryWorkspace(FILES);
  const waiting: (() => void)[] = [];
  const textOf = (name: string): string => workspace.text(name) ?? '';
  return {
    workspace,
    textOf,
    save: (name, text) => workspace.put(name, text),
    end: position => waiting.splice(position % Math.max(1, waiting.length), 1)[0]?.(),
    onWrite: check => (workspace.beforeWrite = check),
    quiet: () => new Promise(resolve => setImmediate(resolve)),
    commandFor: (paths, line, name) => planOf(JSON.stringify({ paths, line, name }), MemoryWorkspace.root),
    sandbox: {
      ...{ engine: 'overlay', isolated: true },
      dispose: () => Promise.resolve(),
      run: async ({ command }, pending, { signal }) => {
        if (signal.aborted) throw new ToolError('It was stopped before it ran. Nothing was run.');
        const put = textsOf(pending);
        const mounted = new Map(PATHS.map(each => [each as string, textOf(each)]));
        const { paths, line, name } = JSON.parse(command) as { paths: string[]; line: number; name: string };
        await new Promise<void>(resolve => {
          waiting.push(resolve);
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
        const effects = paths.map((each): ForeignFile => {
          const base = put.get(each) ?? textOf(each);
          const isUnknown = !put.has(each) && textOf(each) !== mounted.get(each);
          const theirs = Buffer.from(touched(base, line, name));
          return { path: each, base: isUnknown ? null : Buffer.from(base), theirs };
        });
        return { ...ENDED, exitCode: signal.aborted ? undefined : 0, effects };
      },
    },
  };
}

const ENDED: SandboxEnd = {
  ...{ exitCode: 0, ended: 0, running: [], effects: [], leftOut: [], ignored: 0 },
  ...{ wroteGit: false, notes: [] },
};

function textsOf(pending: PendingContents): ReadonlyMap<string, string> {
  return new Map(
    pending.paths().flatMap(each => {
      const side = pending.at(each)?.side;
      return side ? [[each, textIn(side)]] : [];
    }),
  );
}

/** How a command is run in the workspace folder. */
export function planOf(command: string, folder: string): CommandPlan {
  return { command, folder, shell: '/bin/sh', arguments: [], environment: {}, timeLimit: 60 };
}

/** Plays a history in memory. @public */
export function play(steps: readonly Step[]): Promise<readonly string[]> {
  return playInSandbox(inMemory(), steps);
}

/** Files on disk, and a real engine. Commands end by themselves. */
export async function onDisk(world: SandboxWorld): Promise<SandboxPlace> {
  const workspace = new DiskWorkspace(world.root);
  const sandbox = await world.sandboxes.of(SESSION);
  if (!sandbox) throw new Error('There is no sandbox.');
  return {
    workspace,
    sandbox,
    textOf: name => world.read(name) ?? '',
    save: (name, text) => world.write({ [name]: text }),
    end: () => undefined,
    onWrite: check => {
      const write = workspace.write.bind(workspace);
      workspace.write = (...what) => {
        check(what[0]);
        return write(...what);
      };
    },
    quiet: () => new Promise(resolve => setTimeout(resolve, 20)),
    commandFor: (paths, line, name) =>
      planOf(
        paths
          .map(each => `sed -i '${line + 1}s/$/${addition(name)}/' '${each}'; sleep 0.0${line % 10}`)
          .join('; '),
        world.root,
      ),
  };
}

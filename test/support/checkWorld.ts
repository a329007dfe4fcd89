import { textIn } from './changes.ts';
import { setImmediate } from 'node:timers/promises';
import { Emitter } from '../../src/agent/base/event.ts';
import { sha256 } from '../../src/agent/base/hash.ts';
import { silentLogger } from '../../src/agent/base/logger.ts';
import type { Check } from '../../src/agent/sandbox/checks/check.ts';
import { Checks } from '../../src/agent/sandbox/checks/checks.ts';
import { ForeignMatchers } from '../../src/agent/sandbox/checks/problems/foreignMatchers.ts';
import type {
  Sandbox,
  SandboxEnd,
  Sandboxes,
  SandboxStatus,
} from '../../src/agent/sandbox/commands/sandbox.ts';
import type { Preview } from '../../src/agent/hold/preview/preview.ts';
import type { ModelAuthority } from '../../src/agent/hold/preview/resolveSettings.ts';
import { InvokerHarness } from './invokerHarness.ts';
import { MemoryWorkspace } from './memoryWorkspace.ts';

/** What a command of a test sees: the text of a file as it would be; `undefined` where there is none. */
export type View = (path: string) => string | undefined;

/** A command of a test. Its exit code, with the output if there is any. */
export type Command = (
  view: View,
  signal: AbortSignal,
) => number | readonly [number, string] | Promise<number | readonly [number, string]>;

const LINE_WORKER = new URL('../../src/views/chat/search/lineWorker.ts', import.meta.url);

/** The end of a command that succeeded and did nothing. */
export const ENDED: SandboxEnd = {
  exitCode: 0,
  ended: 0,
  running: [],
  effects: [],
  leftOut: [],
  changed: [],
  ignored: 0,
  wroteGit: false,
  notes: [],
};

/** Checks on test doubles: commands are functions of the view. */
export class CheckWorld extends InvokerHarness {
  readonly files = new Emitter<void>();
  /** The commands by their text. */
  readonly commands: Record<string, Command> = {};
  /** The texts of the commands that were run, in order. */
  readonly ran: string[] = [];
  status: SandboxStatus = { engine: 'overlay', isolated: true };
  isTrusted = true;
  settings: Check[] = [];
  /** The `contributes` of extensions. */
  contributions: readonly unknown[] = [];
  /** Awaited between the look at the files and its answer. */
  afterLook: () => Promise<void> = () => Promise.resolve();
  readonly checks: Checks;
  /** How often others wrote each file: as on disk, a file that is written twice is not the one that it was. */
  readonly #puts = new Map<string, number>();

  constructor(authority: ModelAuthority = 'checked', commands: Readonly<Record<string, Command>> = {}) {
    super(authority);
    for (const [name, command] of Object.entries(commands)) this.add(name, command);
    this.checks = new Checks({
      store: this.store,
      workspace: this.workspace,
      stateOf: async except => {
        const state = this.#stateOf(except);
        await this.afterLook();
        return state;
      },
      sandboxes: this.#sandboxes(),
      isTrusted: () => this.isTrusted,
      checks: () => this.settings,
      plan: command =>
        Promise.resolve({
          command,
          folder: MemoryWorkspace.root,
          shell: '/bin/sh',
          arguments: [],
          environment: {},
          timeLimit: 60,
        }),
      onDidChangeFiles: this.files.event,
      matchers: new ForeignMatchers({ contributions: () => this.contributions, worker: LINE_WORKER }),
      logger: silentLogger,
    });
    this.prover = this.checks;
  }

  /** A check in the settings, with what its command does. */
  add(name: string, command: Command, over: Partial<Check> = {}): void {
    this.commands[`run ${name}`] = command;
    this.settings.push({ name, command: `run ${name}`, timeLimit: 60, isApproved: true, ...over });
  }

  /** Someone else writes a file, and the watcher tells it. */
  put(path: string, text: string | null): void {
    this.#puts.set(path, (this.#puts.get(path) ?? 0) + 1);
    this.workspace.put(path, text);
    this.files.fire();
  }

  /** The marks of pending previews, in a few words: `test passed`, `types failed (old)`. */
  marks(...ids: readonly string[]): readonly string[] {
    const previews = ids.flatMap(id => this.store.get(id) ?? []);
    return this.checks
      .marksOf(previews)
      .map(({ name, state, isCurrent }) => `${name} ${state}${isCurrent ? '' : ' (old)'}`);
  }

  /** All that is pending and can be checked. */
  get all(): readonly Preview[] {
    return this.checks.checkable('s1');
  }

  #stateOf(except: ReadonlySet<string>): string {
    const { workspace } = this;
    const kept = Object.entries(workspace.snapshot())
      .filter(([path]) => !except.has(path))
      .map(([path, text]) => {
        const written = workspace.writes.filter(write => write.path === path).length;
        return [path, text, written, this.#puts.get(path) ?? 0];
      });
    return sha256(Buffer.from(JSON.stringify(kept)));
  }

  #sandboxes(): Sandboxes {
    return {
      status: () => Promise.resolve(this.status),
      of: () => Promise.resolve(this.#sandbox()),
      fresh: () => Promise.resolve(this.#sandbox()),
      dispose: () => Promise.resolve(),
    };
  }

  #sandbox(): Sandbox {
    const { workspace } = this;
    return {
      engine: this.status.engine ?? 'overlay',
      isolated: this.status.isolated,
      isBusy: false,
      run: async (plan, pending, { signal, add }): Promise<SandboxEnd> => {
        this.ran.push(plan.command);
        await setImmediate();
        const view: View = path => {
          const planned = pending.at(path);
          return planned ? textIn(planned.side) : workspace.text(path);
        };
        const ended = await this.commands[plan.command]?.(view, signal);
        const [exitCode, output] = typeof ended === 'object' ? ended : [ended ?? 127, ''];
        add(output);
        return { ...ENDED, exitCode };
      },
      readIgnored: () => Promise.resolve(undefined),
      reset: () => Promise.resolve(),
      dispose: () => Promise.resolve(),
    };
  }
}

/** Settles once the signal fires; for commands that never end. */
export function forever(signal: AbortSignal): Promise<number> {
  if (signal.aborted) return Promise.resolve(143);
  return new Promise(resolve => signal.addEventListener('abort', () => resolve(143), { once: true }));
}

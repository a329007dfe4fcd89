import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import type { CheckResult } from '../../../../src/agent/sandbox/checks/check.ts';
import type { SandboxEngine } from '../../../../src/agent/sandbox/commands/sandbox.ts';
import type { Preview } from '../../../../src/agent/hold/preview/preview.ts';
import { ToolError } from '../../../../src/agent/base/errors.ts';
import { create, modify, remove, textIn } from '../../../support/changes.ts';
import { FullCopy, removeAll, type Truth } from './fullCopy.ts';
import { ProvenWorld } from '../../../support/provenWorld.ts';
import { SandboxWorld } from '../../../support/sandboxWorld.ts';

/** All of one size, so that only times and contents tell them apart. */
const TEXTS = ['good\n', 'bad!\n', 'fine\n', 'evil\n'] as const;
/** What the check does beside testing: nothing, poison tools and outputs, write what it checks, leave odd things. */
const CHECKS = [
  '. ./all.sh\n',
  'echo "echo poisoned" > node_modules/tool/run.sh; . ./all.sh\n',
  'mkdir -p out; echo good > out/app; touch -d "+1 hour" out/app out/built; . ./all.sh\n',
  '. ./all.sh; code=$?; cp out/app out/cache/$key; exit $code\n',
  'cp a.txt snap.txt; . ./all.sh\n',
  'sed -i s/bad/fix/ b.txt; . ./all.sh\n',
  'echo good > a.txt; . ./all.sh\n',
  'mkdir -p src/empty out/deep/er; rm -rf node_modules; mkdir node_modules; mkfifo out/pipe; chmod 500 out/deep; . ./all.sh\n',
  'rm -rf out; ln -s src out; . ./all.sh\n',
] as const;
const TOOLS = ['show a.txt\n', 'show b.txt\n'] as const;
/** In the shell itself where that is possible: tens of thousands of histories start few programs. */
const CHECK = 'exec 2>&1; . ./check.sh';

/** Builds by `make`, by a tool that takes equal times for up to date, and by one that knows a file by its second and its size. */
const BASE: Readonly<Record<string, string>> = {
  '.gitignore': 'node_modules/\nout/\n*.log\n.env\n',
  'a.txt': TEXTS[0],
  'b.txt': TEXTS[0],
  'src/c.txt': TEXTS[0],
  'snap.txt': TEXTS[0],
  'check.sh': CHECKS[0],
  Makefile: 'out/app: a.txt snap.txt\n\t@sh app.sh\n',
  'app.sh': '. ./show.sh\n[ -d out ] || mkdir out\nshow a.txt snap.txt > out/app\n',
  'show.sh': `show() {
  for file; do
    if [ -f "$file" ]; then while IFS= read -r line; do echo "$line"; done < "$file"; else echo "no $file"; fi
  done
}
isBad() {
  for file; do
    if [ -f "$file" ]; then while read -r line; do case $line in *bad*) return 0 ;; esac; done < "$file"; fi
  done
  return 1
}
`,
  'all.sh': `exec 2>&1
. ./show.sh
make -s 2> /dev/null
[ -d out/cache ] || mkdir -p out/cache
if [ ! -e out/built ] || [ b.txt -nt out/built ]; then show b.txt > out/built; fi
key=$(stat -c %Y-%s src/c.txt)
[ -e out/cache/$key ] || show src/c.txt > out/cache/$key
show out/cache/$key > out/answer
show out/app out/built out/answer link.txt .env node_modules/self/c.txt
at=
[ -f out/env/path ] && read -r at < out/env/path
[ -f "$at/b.txt" ] && show "$at/b.txt"
(. ./node_modules/tool/run.sh)
echo .* * src/* out/deep/*
! isBad out/app out/built out/answer
`,
};
const TRACKED = ['a.txt', 'b.txt', 'src/c.txt', 'snap.txt', 'link.txt', 'src/new.txt', 'check.sh'] as const;
/** What the tools build from. */
const BUILT = ['src/c.txt', 'src/c.txt', 'b.txt', 'a.txt'] as const;
/** Outputs last: whether a pending one is older than what it is made from is not defined. */
const IGNORED = ['.env', 'node_modules/tool/run.sh', 'out/app', 'out/built'] as const;

/** What happens in a history. `waits`: until it is done; else it goes on beside the next steps, after some milliseconds. */
export type ProofStep = { readonly waits: boolean } & (
  | { readonly kind: 'propose'; readonly path: string; readonly text: number; readonly isGone: boolean }
  | {
      readonly kind: 'edit';
      readonly path: string;
      readonly text: number;
      /** The time that the file gets. `kept`: that of what it replaces. */
      readonly time: 'now' | 'old' | 'kept';
      readonly how: 'inPlace' | 'replaced' | 'removed';
    }
  /** A person saves a file and builds at once, on disk. */
  | { readonly kind: 'build'; readonly path: string; readonly text: number }
  | { readonly kind: 'vote' | 'apply' | 'discard' | 'check'; readonly which: number }
  | { readonly kind: 'checkAll' }
  /** A command in the sandbox of the conversation. */
  | { readonly kind: 'command'; readonly text: number }
);

const waits = fc.oneof({ weight: 2, arbitrary: fc.constant(true) }, fc.constant(false));
const text = fc.nat({ max: 8 });
const which = fc.nat({ max: 4 });
const path_ = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...TRACKED.slice(0, 6)) },
  { weight: 2, arbitrary: fc.constant('check.sh') },
  { weight: 1, arbitrary: fc.constantFrom(...IGNORED.slice(0, 2)) },
);
const time = fc.constantFrom('now' as const, 'old' as const, 'kept' as const);
const how = fc.constantFrom('inPlace' as const, 'inPlace' as const, 'replaced' as const, 'removed' as const);
const rarely = fc.integer({ min: 0, max: 7 }).map(n => n === 0);
const step: fc.Arbitrary<ProofStep> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('propose' as const), path: path_, text, isGone: rarely, waits }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('edit' as const),
      path: fc.oneof(path_, fc.constantFrom(...IGNORED)),
      text,
      time,
      how,
      waits,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('build' as const),
      path: fc.constantFrom(...BUILT),
      text,
      waits,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('vote' as const, 'vote', 'vote', 'apply', 'discard', 'discard'),
      which,
      waits,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('check' as const), which, waits }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('checkAll' as const), waits }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('command' as const), text, waits }) },
);
export const history = fc.array(step, { minLength: 4, maxLength: 12 });

/** What histories have reached, together. */
export interface Reached {
  /** Results that were compared, by how they ended. */
  compared: Record<string, number>;
  /** Votes of the model that landed. */
  landed: number;
  /** Results that are about no files, since some changed meanwhile. */
  raced: number;
}

/** One repository for many histories: what one has left in the sandbox of the checks must change nothing in the next. */
export class ProofHistories {
  readonly reached: Reached = { compared: {}, landed: 0, raced: 0 };
  readonly #sandbox: SandboxWorld;
  readonly #engine: SandboxEngine;

  private constructor(sandbox: SandboxWorld, engine: SandboxEngine) {
    this.#sandbox = sandbox;
    this.#engine = engine;
  }

  static async create(engine: SandboxEngine): Promise<ProofHistories> {
    return new ProofHistories(await SandboxWorld.create(engine, BASE), engine);
  }

  async remove(): Promise<void> {
    await this.#sandbox.remove();
  }

  /** Plays a history. @returns where a check and a full copy differ */
  async play(steps: readonly ProofStep[]): Promise<readonly string[]> {
    this.#restore();
    const world = new ProvenWorld(this.#sandbox, this.#engine, [{ command: CHECK }]);
    const played = new Played(world, this.reached);
    try {
      for (const each of steps) await played.perform(each);
      await played.finish();
      return played.violations;
    } finally {
      world.close();
    }
  }

  /** Makes the files what they are at the beginning of each history: all an hour old. */
  #restore(): void {
    const { root } = this.#sandbox;
    for (const name of fs.readdirSync(root)) if (name !== '.git') removeAll(path.join(root, name));
    this.#sandbox.write({ ...BASE, 'node_modules/tool/run.sh': TOOLS[0] });
    fs.linkSync(path.join(root, 'a.txt'), path.join(root, 'link.txt'));
    // As an installed package of the workspace and an environment have it.
    fs.symlinkSync(path.join(root, 'src'), path.join(root, 'node_modules/self'));
    this.#sandbox.write({ 'out/env/pyvenv.cfg': '', 'out/env/path': `${root}\n` });
    const old = new Date(Date.now() - 3_600_000);
    for (const name of [...Object.keys(BASE), 'node_modules/tool/run.sh'])
      fs.utimesSync(path.join(root, name), old, old);
  }
}

class Played {
  readonly violations: string[] = [];
  readonly #world: ProvenWorld;
  readonly #reached: Reached;
  readonly #running = new Set<Promise<unknown>>();
  readonly #truths: (() => void)[] = [];
  /** Counts what changes on disk. */
  #writes = 0;
  /** How many there were when the files were looked at last. */
  #looked = 0;
  /** When something that git ignores was changed on disk last, in milliseconds: a result is not about that. */
  #ignoredAt = 0;
  #copies = 0;

  constructor(world: ProvenWorld, reached: Reached) {
    this.#world = world;
    this.#reached = reached;
    world.onLook = () => {
      this.#looked = this.#writes;
    };
    world.store.onDidResolve(entries => {
      for (const { outcome, actor, files, checks, previewId } of entries) {
        if (outcome !== 'applied') continue;
        this.#writes++;
        const proof = checks?.find(({ name }) => name === 'test');
        const provedAt = Date.parse(proof?.at ?? '');
        if (actor === 'model' && !(this.#ignoredAt > provedAt)) {
          reached.landed++;
          this.#compare(`${previewId} landed`, [], { outcome: 'passed' });
        }
        if (files.some(({ path: name }) => isIgnored(name))) this.#ignoredAt = Date.now();
      }
    });
  }

  async perform(each: ProofStep): Promise<void> {
    const before = this.#running.size;
    await this.#begin(each);
    if (each.waits) await this.#quiet();
    else if (this.#running.size > before) await setTimeout(each.kind.length * 7);
  }

  async finish(): Promise<void> {
    await this.#quiet();
    for (const compare of this.#truths) compare();
  }

  async #begin(each: ProofStep): Promise<void> {
    const { store, sandbox, rebaser } = this.#world;
    const pending = store.list('oldestFirst').filter(({ state }) => state.kind === 'pending');
    const chosen = 'which' in each ? pending.at(each.which % Math.max(1, pending.length)) : undefined;
    switch (each.kind) {
      case 'propose':
        return this.#propose(each.path, each.isGone ? undefined : textFor(each.path, each.text));
      case 'edit':
        if (isIgnored(each.path)) await this.#quiet();
        return this.#edit(each);
      case 'build':
        await this.#quiet();
        this.#writes++;
        this.#ignoredAt = Date.now();
        sandbox.write({ [each.path]: textFor(each.path, each.text) });
        execFileSync('sh', ['-c', '. ./all.sh > /dev/null; true'], { cwd: sandbox.root });
        return this.#start(rebaser.filesChanged(TRACKED));
      case 'command': {
        const command = CHECKS[each.text] ?? CHECKS[0];
        return this.#start(sandbox.run(command, { contents: this.#world.pending }));
      }
      case 'checkAll':
        return this.#check(this.#world.checks.checkable('s1'));
      case 'check':
        return this.#check(chosen ? this.#world.checks.withBase(chosen) : []);
      case 'vote':
      case 'apply':
      case 'discard':
        if (!chosen) return;
        // What git ignores is not looked at, so nothing runs while it changes.
        if (chosen.changes?.some(({ path: name }) => isIgnored(name)) === true) await this.#quiet();
        // A file that has changed is told, and nothing is written.
        return this.#start(
          (each.kind === 'vote'
            ? this.#world.vote(chosen)
            : this.#world.resolve(chosen.id, each.kind, 'human')
          ).catch((error: unknown) => {
            if (!(error instanceof ToolError)) throw error;
          }),
        );
    }
  }

  #propose(name: string, content: string | undefined): void {
    const now = this.#world.pending.at(name);
    const before = now ? textIn(now.side) : this.#world.sandbox.read(name);
    if (before === content) return;
    if (before === undefined) this.#world.stage(create(name, content ?? ''));
    else this.#world.stage(content === undefined ? remove(name, before) : modify(name, before, content));
  }

  #edit({ path: name, text: n, time: at, how: way }: Extract<ProofStep, { kind: 'edit' }>): void {
    const { sandbox, rebaser } = this.#world;
    const file = sandbox.at(name);
    const old = fs.statSync(file, { throwIfNoEntry: false });
    this.#writes++;
    if (isIgnored(name)) this.#ignoredAt = Date.now();
    if (way !== 'inPlace') fs.rmSync(file, { force: true });
    if (way !== 'removed') {
      sandbox.write({ [name]: textFor(name, n) });
      const hourAgo = new Date(Date.now() - 3_500_000 - n * 1000);
      const kept = at === 'old' ? hourAgo : at === 'kept' ? old?.mtime : undefined;
      if (kept) fs.utimesSync(file, kept, kept);
    }
    this.#start(rebaser.filesChanged(TRACKED));
  }

  #check(previews: readonly Preview[]): void {
    const run = async (): Promise<void> => {
      const { results } = await this.#world.checks.run(previews, 'human', { compares: false });
      const [result] = results;
      if (!result || result.outcome === 'stopped') return;
      // Both cannot be written: they are one file.
      const paths = new Set(previews.flatMap(({ changes }) => (changes ?? []).map(({ path: name }) => name)));
      if (paths.has('a.txt') && paths.has('link.txt')) return;
      if (result.outcome === 'notRun') return void this.violations.push(`not run: ${result.output}`);
      if (!result.saw) return void this.#reached.raced++;
      if (this.#looked === this.#writes)
        this.#compare(
          `${result.id} on ${previews.map(({ id }) => id).join(', ') || 'the disk'}`,
          previews,
          result,
        );
    };
    this.#start(run());
  }

  /** Compares with the truth later: the copy is made now. */
  #compare(
    what: string,
    previews: readonly Preview[],
    said: Pick<CheckResult, 'outcome'> & Partial<CheckResult>,
  ): void {
    const { temp, root } = this.#world.sandbox;
    const changes = previews.flatMap(preview => preview.changes ?? []);
    const copy = new FullCopy(root, temp.at('copies', String(++this.#copies), 'work space'), changes);
    this.#truths.push(() => {
      const truth = copy.run(CHECK);
      copy.remove();
      const { compared } = this.#reached;
      compared[truth.outcome] = (compared[truth.outcome] ?? 0) + 1;
      const differs = differenceOf(said, truth);
      if (differs !== undefined) this.violations.push(`${what}: ${differs}`);
    });
  }

  #start(work: Promise<unknown>): void {
    const one = work.catch((error: unknown) => void this.violations.push(`thrown: ${String(error)}`));
    this.#running.add(one);
    void one.finally(() => this.#running.delete(one));
  }

  async #quiet(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}

function differenceOf(
  said: Pick<CheckResult, 'outcome'> & Partial<CheckResult>,
  truth: Truth,
): string | undefined {
  const pairs: (readonly [string, unknown, unknown])[] = [['outcome', said.outcome, truth.outcome]];
  if (said.output !== undefined) {
    pairs.push(['exit code', said.exitCode, truth.exitCode]);
    // In a view, a command that writes one of several names leaves the others as they were, and is told so.
    if (!truth.changed.some(name => oneName(name) === 'a.txt'))
      pairs.push(['output', said.output.trim(), truth.output.trim()]);
    if (said.changed) pairs.push(['files', said.changed.count, truth.changed.length]);
    for (const name of said.changed?.first ?? [])
      if (!truth.changed.map(oneName).includes(oneName(name))) pairs.push(['file', name, truth.changed]);
  }
  const differing = pairs.filter(([, one, other]) => one !== other);
  if (differing.length === 0) return undefined;
  return differing
    .map(([what, one, other]) => `${what} ${JSON.stringify(one)}, a full copy ${JSON.stringify(other)}`)
    .join('; ');
}

/** One file has two names. */
function oneName(name: string): string {
  return name === 'link.txt' ? 'a.txt' : name;
}

function isIgnored(name: string): boolean {
  return (IGNORED as readonly string[]).includes(name);
}

function textFor(name: string, n: number): string {
  const texts: readonly string[] = name === 'check.sh' ? CHECKS : name.endsWith('run.sh') ? TOOLS : TEXTS;
  return texts[n % texts.length] ?? '';
}

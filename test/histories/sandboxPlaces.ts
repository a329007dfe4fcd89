import * as fs from 'node:fs';
import { ToolError } from '../../src/agent/base/errors.ts';
import type { CommandPlan } from '../../src/agent/sandbox/commands/commandPlan.ts';
import type { Sandbox } from '../../src/agent/sandbox/commands/sandbox.ts';
import { Effects, foundContent, type Found } from '../../src/agent/sandbox/view/effects.ts';
import { contentOf } from '../../src/agent/hold/preview/blobs.ts';
import { hashOf } from '../../src/agent/hold/preview/commit/held.ts';
import type { PendingContents } from '../../src/agent/hold/preview/overlay.ts';
import type { ResolvingFiles } from '../../src/agent/hold/preview/resolve/refusals.ts';
import type { FileContent, Workspace } from '../../src/agent/hold/preview/workspace.ts';
import { DiskWorkspace } from '../support/diskWorkspace.ts';
import { MemoryWorkspace } from '../support/memoryWorkspace.ts';
import type { SandboxWorld } from '../support/sandboxWorld.ts';
import { ENDED } from '../support/checkWorld.ts';

/** The files of a history that are texts, which are merged. */
export const TEXTS = ['a.txt', 'src/b.txt'] as const;
/** Those at whose paths links and binary files stand, which are changed as a whole. */
export const WHOLES = ['link', 'pic.bin'] as const;
export const PATHS = [...TEXTS, ...WHOLES] as const;
export const LINES = 12;

/** What a command does to a path: it adds to a line, puts something else there, or leaves it; and it may set permission bits. */
export interface Act {
  readonly path: string;
  readonly does: 'line' | 'link' | 'bytes' | 'nothing' | 'same';
  readonly setsBits: boolean;
}

/** A command, whose name and number are in all that it makes. */
export interface Deeds {
  readonly name: string;
  readonly bits: number;
  readonly line: number;
  readonly acts: readonly Act[];
}

/** Where commands run, and the files: in memory, or on disk. */
export interface SandboxPlace {
  readonly workspace: Workspace & ResolvingFiles;
  readonly sandbox: Sandbox;
  /** The command that does this, as its engine understands it. */
  commandFor(deeds: Deeds): CommandPlan;
  /** What stands on disk at a path itself. */
  at(path: string): FileContent | null;
  /** The permission bits of a file on disk; `undefined` where there is a link or nothing. */
  bitsAt(path: string): number | undefined;
  /** The user puts something there. @param bits those of a file; by default it keeps its own */
  put(path: string, content: FileContent | null, bits?: number): void;
  /** Lets one of the running commands end. */
  end(at: number): void;
  /** Called before a file is written. */
  onWrite(check: (path: string) => void): void;
  /** When nothing happens by itself any more, but for commands that wait for {@link end}. */
  quiet(): Promise<void>;
}

/** The texts at the beginning of a history. */
export const FILES: Readonly<Record<string, string>> = Object.fromEntries(
  TEXTS.map(name => [name, Array.from({ length: LINES }, (_, n) => `${n}\n`).join('')]),
);

/** The text of a file; empty where there is none. */
export function textAt(place: SandboxPlace, path: string): string {
  const content = place.at(path);
  return content && !('link' in content) ? Buffer.from(content).toString() : '';
}

/** What a name makes of a path as a whole. */
export function wholeOf(does: 'link' | 'bytes' | 'nothing', name: string): FileContent | null {
  if (does === 'nothing') return null;
  // Writing through some of the links would change a text. No two of them are the same, or one would be the other, moved.
  if (does === 'link') return { link: name.endsWith('10') ? 'src/b.txt' : `to-${name}` };
  return Buffer.concat([Uint8Array.of(0, 255), Buffer.from(name)]);
}

/** The text with something added to a line. */
export function touched(text: string, line: number, what: string): string {
  const lines = text.split('\n');
  lines[line] = `${lines[line] ?? ''}${addition(what)}`;
  return lines.join('\n');
}

export function addition(what: string): string {
  return ` <${what}>`;
}

/** Files in memory, and an engine that does what an overlay does: it shows the disk as it is, and what was pending at the start. */
export function inMemory(): SandboxPlace {
  const workspace = new MemoryWorkspace(FILES);
  const waiting: (() => void)[] = [];
  /** How often what stands at a path was changed: a file system has the time of the last change. */
  const changes = new Map<string, number>();
  const seen = new Map<string, string>();
  const stampOf = (path: string): number => {
    const now = `${hashOf(workspace.at(path) ?? undefined)} ${workspace.ownModeOf(path)}`;
    if (seen.get(path) !== now) changes.set(path, (changes.get(path) ?? 0) + 1);
    seen.set(path, now);
    return changes.get(path) ?? 0;
  };
  const onDisk = (path: string): Found | undefined => foundIn(workspace.at(path), workspace.ownModeOf(path));
  return {
    workspace,
    at: path => workspace.at(path),
    bitsAt: path => workspace.ownModeOf(path),
    put: (path, content, bits) => {
      workspace.putWhole(path, content, bits);
      stampOf(path);
    },
    end: position => waiting.splice(position % Math.max(1, waiting.length), 1)[0]?.(),
    onWrite: check => (workspace.beforeWrite = check),
    quiet: () => new Promise(resolve => setImmediate(resolve)),
    commandFor: deeds => planOf(JSON.stringify(deeds), MemoryWorkspace.root),
    sandbox: {
      engine: 'overlay',
      isolated: true,
      isBusy: false,
      readIgnored: () => Promise.resolve(undefined),
      reset: () => Promise.resolve(),
      dispose: () => Promise.resolve(),
      run: async ({ command }, pending, { signal }) => {
        if (signal.aborted) throw new ToolError('It was stopped before it ran. Nothing was run.');
        const put = await putInto(pending, path => workspace.ownModeOf(path));
        const mounted = new Map(PATHS.map(path => [path as string, stampOf(path)]));
        const deeds = JSON.parse(command) as Deeds;
        await new Promise<void>(resolve => {
          waiting.push(resolve);
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
        const effects = new Effects();
        for (const act of deeds.acts) {
          const { path } = act;
          const base = put.has(path) ? put.get(path) : onDisk(path);
          const isBaseUnknown = !put.has(path) && stampOf(path) !== mounted.get(path);
          const theirs = await leftBy(act, deeds, base);
          await effects.add(path, base, theirs, () => Promise.resolve(isBaseUnknown));
        }
        return { ...ENDED, exitCode: signal.aborted ? undefined : 0, ...effects.end() };
      },
    },
  };
}

function foundIn(content: FileContent | null, bits: number | undefined): Found | undefined {
  return content ? foundContent(content, bits ?? 0o644) : undefined;
}

/** What pending previews put into the view, by path. */
async function putInto(
  pending: PendingContents,
  bitsOnDisk: (path: string) => number | undefined,
): Promise<ReadonlyMap<string, Found | undefined>> {
  const put = new Map<string, Found | undefined>();
  for (const path of pending.paths()) {
    const { side, mode, from = path } = pending.at(path) ?? {};
    put.set(path, foundIn(side ? await contentOf(side, pending.blobs) : null, mode ?? bitsOnDisk(from)));
  }
  return put;
}

/** What a command makes of what it finds at a path. */
async function leftBy(
  act: Act,
  { name, line, bits }: Deeds,
  base: Found | undefined,
): Promise<Found | undefined> {
  const { does } = act;
  let left = base;
  const kept = base?.kind === 'file' ? base.mode : 0o644;
  if (does === 'line' && base?.kind === 'file')
    left = foundContent(Buffer.from(touched(Buffer.from(await base.read()).toString(), line, name)), kept);
  else if (does === 'link' || does === 'bytes' || does === 'nothing')
    left = foundIn(wholeOf(does, name), kept);
  return act.setsBits && left?.kind === 'file' ? { ...left, mode: bits } : left;
}

/** How a command is run in the workspace folder. */
export function planOf(command: string, folder: string): CommandPlan {
  return { command, folder, shell: '/bin/sh', arguments: [], environment: {}, timeLimit: 60 };
}

/** Files on disk, and a real engine. Commands end by themselves. */
export async function onDisk(world: SandboxWorld): Promise<SandboxPlace> {
  const workspace = new DiskWorkspace(world.root);
  const sandbox = await world.sandboxes.of('s1');
  if (!sandbox) throw new Error('There is no sandbox.');
  const statOf = (path: string): fs.Stats | undefined =>
    fs.lstatSync(world.at(path), { throwIfNoEntry: false });
  return {
    workspace,
    sandbox,
    at: path => {
      const stat = statOf(path);
      if (!stat) return null;
      return stat.isSymbolicLink()
        ? { link: fs.readlinkSync(world.at(path)) }
        : fs.readFileSync(world.at(path));
    },
    bitsAt: path => {
      const stat = statOf(path);
      return stat?.isFile() ? stat.mode & 0o777 : undefined;
    },
    put: (path, content, bits) => {
      if (!content || 'link' in content || statOf(path)?.isSymbolicLink())
        fs.rmSync(world.at(path), { force: true });
      if (content && 'link' in content) fs.symlinkSync(content.link, world.at(path));
      else if (content) fs.writeFileSync(world.at(path), content);
      if (bits !== undefined) fs.chmodSync(world.at(path), bits);
    },
    end: () => undefined,
    onWrite: check => {
      for (const name of ['write', 'replace'] as const) {
        const write = workspace[name].bind(workspace) as (...what: unknown[]) => Promise<never>;
        workspace[name] = (...what: readonly [string, ...unknown[]]) => {
          check(what[0]);
          return write(...what);
        };
      }
    },
    quiet: () => new Promise(resolve => setTimeout(resolve, 20)),
    commandFor: deeds => planOf(deeds.acts.map(act => scriptOf(act, deeds)).join('; '), world.root),
  };
}

function scriptOf({ path, does, setsBits }: Act, { name, line, bits }: Deeds): string {
  const content = does === 'line' || does === 'same' ? null : wholeOf(does, name);
  const steps = [
    ...(does === 'line' ? [`sed -i '${line + 1}s/$/${addition(name)}/' ${path}`] : []),
    ...(does === 'nothing' ? [`rm -f ${path}`] : []),
    ...(content && 'link' in content ? [`ln -sfn ${content.link} ${path}`] : []),
    ...(does === 'bytes'
      ? [`if [ -L ${path} ]; then rm ${path}; fi; printf '\\000\\377${name}' > ${path}`]
      : []),
    ...(setsBits
      ? [`if [ -f ${path} ] && [ ! -L ${path} ]; then chmod ${bits.toString(8)} ${path}; fi`]
      : []),
    `sleep 0.0${line % 10}`,
  ];
  return steps.join('; ');
}

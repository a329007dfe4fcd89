import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { promisify } from 'node:util';
import { succeeds } from '../../base/async.ts';
import { deafness } from '../view/bubblewrap.ts';
import { systemTool } from '../view/namespace.ts';

/** How long the probe may take, in milliseconds. */
const LIMIT_MS = 20_000;

/** Fails to write into the first folder, and writes into the second one. */
const PROBE = 'echo x >"$1/$3"; echo x >"$2/$3"';

/**
 * The beginning of a command line that keeps its program from writing into folders, by any path to them, and changes nothing
 * else. `undefined` where the system has no such program.
 * @param folders absolute, links followed
 * @param free a folder in one of them that can be written
 * @param find the path of a program of the system
 */
export function wallAround(
  folders: readonly string[],
  free: string,
  platform: NodeJS.Platform = process.platform,
  find: (name: string) => string | undefined = systemTool,
): readonly string[] | undefined {
  const program = { linux: 'bwrap', darwin: 'sandbox-exec' }[platform as string];
  const at = program === undefined ? undefined : find(program);
  if (at === undefined) return undefined;
  if (platform === 'darwin') return [at, '-p', profileFor(folders, free)];
  const closed = folders.flatMap(each => ['--ro-bind', each, each]);
  const { before, after } = deafness();
  const bound = ['--dev-bind', '/', '/', ...closed, '--bind', free, free];
  return [...before, at, ...bound, '--die-with-parent', '--', ...after];
}

/** A profile of macOS that forbids only writing below the folders, except in the free one: the last matching rule counts. */
export function profileFor(folders: readonly string[], free: string): string {
  const path = (each: string): string => `(subpath "${each.replace(/["\\]/g, '\\$&')}")`;
  return `(version 1)(allow default)(deny file-write* ${folders.map(path).join(' ')})(allow file-write* ${path(free)})`;
}

/**
 * Tries a wall by writing into a folder behind it, and into one that is free.
 * @returns whether it holds the program back from the first one alone
 */
export async function holds(wall: readonly string[], closed: string, free: string): Promise<boolean> {
  const [program = '', ...args] = wall;
  const name = `probe-${randomUUID()}`;
  const [inside, beside] = [path.join(closed, name), path.join(free, name)];
  try {
    const command = [...args, '/bin/sh', '-c', PROBE, 'sh', closed, free, name];
    await promisify(execFile)(program, command, { timeout: LIMIT_MS }).catch(() => undefined);
    return (await succeeds(fs.access(beside))) && !(await succeeds(fs.access(inside)));
  } finally {
    for (const each of [inside, beside]) await fs.rm(each, { force: true });
  }
}

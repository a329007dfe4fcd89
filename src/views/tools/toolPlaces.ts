import { existsSync, realpathSync } from 'node:fs';
import * as path from 'node:path';
import type { ToolPlace } from '../../agent/tools/custom/toolFiles.ts';

/** Where tools lie below a workspace folder, and below the person's home. */
export const TOOLS_FOLDER = path.join('.redline', 'tools');

export interface ToolPlacesInput {
  /** Absolute paths of the workspace folders. */
  readonly folders: readonly string[];
  /** Whether the person trusts the workspace. */
  readonly isTrusted: boolean;
  readonly home: string;
  /** As the setting has them: absolute, or below the home with `~`. */
  readonly paths: readonly string[];
}

/**
 * The places of custom tools: those of the workspace's folders, which need its trust; the person's own, which do not; and
 * those of the setting, which need it where they lie inside the workspace.
 */
export function toolPlaces({ folders, isTrusted, home, paths }: ToolPlacesInput): readonly ToolPlace[] {
  const cwd = folders[0] ?? home;
  const places = [
    ...folders.map(folder => ({ path: path.join(folder, TOOLS_FOLDER), cwd: folder, trusted: isTrusted })),
    { path: path.join(home, TOOLS_FOLDER), cwd, trusted: true },
    ...paths
      .map(each => absolute(each.trim(), home))
      .filter(each => path.isAbsolute(each))
      .map(each => {
        const inside = folders.find(folder => isBelow(real(each), real(folder)));
        return { path: each, cwd: inside ?? cwd, trusted: isTrusted || inside === undefined };
      }),
  ];
  const first = new Map<string, ToolPlace>();
  for (const place of places) {
    const known = first.get(place.path);
    if (!known) first.set(place.path, place);
    else if (place.trusted && !known.trusted) first.set(place.path, { ...known, trusted: true });
  }
  return [...first.values()];
}

function absolute(input: string, home: string): string {
  const text = /^~([\\/]|$)/.test(input) ? path.join(home, input.slice(1)) : input;
  return path.join(text).replace(/(?<=.)[\\/]$/, '');
}

/** Where symbolic links lead. */
function real(place: string): string {
  return existsSync(place) ? realpathSync.native(place) : place;
}

function isBelow(place: string, folder: string): boolean {
  const relative = path.relative(folder, place);
  return relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}

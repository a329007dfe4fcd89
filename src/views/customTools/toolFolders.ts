import { existsSync } from 'node:fs';
import * as path from 'node:path';
import { realPathSync, isInside } from '../../agent/base/system/realPath.ts';
import type { ToolPlace } from '../../agent/session/tools/custom/loading/toolFiles.ts';

/** The folder for tools, in each workspace folder and in the user's home. */
export const TOOLS_FOLDER = path.join('.redline', 'tools');

export interface ToolPlacesInput {
  /** Absolute paths of the workspace folders. */
  readonly folders: readonly string[];
  /** Whether the user trusts the workspace. */
  readonly isTrusted: boolean;
  readonly home: string;
  /** The value of the setting: absolute paths, or paths in the home that begin with `~`. Others are ignored. */
  readonly paths: readonly string[];
}

/**
 * The places of custom tools: those in workspace folders, which are trusted if the workspace is; the one in the home, which always
 * is; and those of the setting, which always are unless they are inside the workspace.
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
        const inside = folders.find(folder => isInside(real(each), real(folder)));
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

/** The path with symlinks followed, if it exists. */
function real(place: string): string {
  return existsSync(place) ? realPathSync(place) : place;
}

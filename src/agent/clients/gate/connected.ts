import { existsSync } from 'node:fs';
import * as path from 'node:path';
import { isRecord, parsedJson } from '../../base/json.ts';

/** The first argument of a hook in the home folder, which all projects run: it holds in connected folders only. */
export const CONNECTED_ONLY = '--connected-only';

/** The file of a project that *Connect an Agent…* writes. */
const HOOK = path.join('.github', 'hooks', 'redline.json');

/**
 * Whether the folder in which the agent works, or one above it, is connected.
 * @param input what the agent tells its hook, as it came; a folder that it does not tell counts as connected
 */
export function isConnected(input: string): boolean {
  const cwd = cwdIn(input);
  if (cwd === undefined || !path.isAbsolute(cwd)) return true;
  for (let folder = cwd; ; folder = path.dirname(folder)) {
    if (existsSync(path.join(folder, HOOK))) return true;
    if (path.dirname(folder) === folder) return false;
  }
}

function cwdIn(input: string): string | undefined {
  const told = parsedJson(input);
  const cwd = isRecord(told) ? told['cwd'] : undefined;
  return typeof cwd === 'string' ? cwd : undefined;
}

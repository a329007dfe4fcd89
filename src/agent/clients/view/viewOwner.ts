import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { parsedJson } from '../../base/json.ts';
import type { KnownProcesses } from '../../base/system/startedProcesses.ts';
import type { AgentName } from '../../hold/preview/preview.ts';

/** The file beside a view that names who works in it, so that it is known after a reload. */
const OWNER = 'owner.json';

/** The agent that works in a view. */
export interface ViewOwner {
  /** Leads to the root of the view, as long as the program is there. */
  readonly view: string;
  /** The processes that work in copies, where nothing else ends them. */
  readonly processes?: KnownProcesses | undefined;
  readonly agent: AgentName;
  /** The session of its previews. A terminal goes on with previews that an earlier terminal of the same agent left pending. */
  readonly sessionId: string;
}

/** @param folder of the view */
export function writeOwner(folder: string, owner: ViewOwner): Promise<void> {
  return fs.writeFile(path.join(folder, OWNER), JSON.stringify(owner));
}

/** @returns `undefined` if nobody is named */
export async function ownerOf(folder: string): Promise<ViewOwner | undefined> {
  const text = await fs.readFile(path.join(folder, OWNER), 'utf8').catch(() => '');
  return parsedJson(text) as ViewOwner | undefined;
}

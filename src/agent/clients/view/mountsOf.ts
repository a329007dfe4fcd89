import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import type { AgentView } from '../../sandbox/agentView/agentView.ts';
import { holds, wallAround } from '../../sandbox/agentView/copyWall.ts';
import { greeting } from './terminalWords.ts';
import type { WindowMessage } from './viewLines.ts';
import type { ViewOwner } from './viewOwner.ts';
import type { AgentViewsHost } from './viewsHost.ts';

/**
 * The message that lets a program begin in a view.
 * @param around makes the wall of the system
 */
export async function mountsOf(
  view: AgentView,
  owner: ViewOwner,
  host: Pick<AgentViewsHost, 'l10n' | 'folders' | 'store' | 'readable'>,
  around: typeof wallAround = wallAround,
): Promise<Extract<WindowMessage, { kind: 'mounts' }>> {
  const { storage, folders, links, shown, readable, copies } = view.mounts;
  const wall = await wallOf(view, around);
  return {
    kind: 'mounts',
    storage,
    folders: folders.map(({ root, state }) => ({ root, state })),
    links: links.map(([link, target]) => [link, target]),
    shown: [...shown],
    copies: copies.map(({ root, copy }) => ({ root, copy })),
    readable: [...readable, ...host.readable()],
    searchPath: process.env['PATH'] ?? '',
    wall: [...wall],
    status: (await view.statusFile()).at,
    lines: await greeting(view, owner, wall.length > 0, host),
  };
}

/** The wall that keeps a program in copies from writing into the folders and the state of all views; none if nothing does. */
async function wallOf({ mounts, written }: AgentView, around: typeof wallAround): Promise<readonly string[]> {
  const { copies, storage } = mounts;
  if (copies.length === 0) return [];
  const closed = [...copies.map(({ root }) => root), path.dirname(storage)];
  const wall = around(await Promise.all(closed.map(each => fs.realpath(each))), await fs.realpath(written));
  return wall && (await holds(wall, storage, written)) ? wall : [];
}

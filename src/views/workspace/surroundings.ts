import * as os from 'node:os';
import * as vscode from 'vscode';
import type { Surroundings } from '../../agent/session/surroundings.ts';
import { activeGit } from './gitApi.ts';

const SYSTEMS: Partial<Record<NodeJS.Platform, string>> = {
  win32: 'Windows',
  darwin: 'macOS',
  linux: 'Linux',
};

/**
 * Facts about this window that the model is told.
 * @param shellOf the shell that would run a command; may reject
 */
export async function readSurroundings(shellOf: () => Promise<string>): Promise<Surroundings> {
  const shell = await shellOf().catch(() => undefined);
  const git = activeGit();
  const folders = (vscode.workspace.workspaceFolders ?? []).map(({ name, uri }) => {
    const branch = git?.getRepository(uri)?.state.HEAD?.name;
    return { name, branch };
  });
  return {
    system: SYSTEMS[process.platform] ?? os.type(),
    shell,
    folders,
  };
}

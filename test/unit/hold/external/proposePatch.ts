import type { Gathered } from '../../../../src/agent/hold/external/gathered.ts';
import { parsePatch } from '../../../../src/agent/hold/external/patch/parsePatch.ts';
import { patchProposal } from '../../../../src/agent/hold/external/patch/patchProposal.ts';
import { textIn } from '../../../support/changes.ts';
import { MemoryWorkspace } from '../../../support/memoryWorkspace.ts';

/** What a patch would make of these files, some of which are links. */
export async function propose(
  patch: string,
  files: Readonly<Record<string, string | Uint8Array>>,
  links: Readonly<Record<string, string>> = {},
  lineEnding: '\n' | '\r\n' = '\n',
): Promise<Gathered> {
  const workspace = new MemoryWorkspace(files, links);
  workspace.lineEnding = lineEnding;
  return patchProposal(await parsePatch(patch), workspace, {
    resolve: async name => [await workspace.resolvePath(name)],
    isLink: path => Promise.resolve(path in links),
  });
}

/** The changes as kind, paths and new text. */
export function texts({ changes }: Gathered) {
  return changes.map(change => [
    change.kind,
    ...(change.kind === 'rename' ? [change.from] : []),
    change.path,
    textIn(change.after) ?? null,
  ]);
}

export function reasons({ leftOut }: Gathered): readonly string[] {
  return leftOut.map(({ path, why }) => `${path}: ${why}`);
}

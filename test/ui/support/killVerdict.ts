import { readFile } from 'node:fs/promises';
import * as path from 'node:path';
import { historyViolations } from '../../support/scriptedProvider.ts';
import { contentOf, type KillFindings, type KillReport } from './killWorkload.ts';

/**
 * What is wrong after a kill: a preview that was told and is gone, one that is there twice, one whose file does not
 * hold what its state says, one resolved otherwise than was told.
 */
export async function violationsAfterKill(
  folder: string,
  report: readonly KillReport[],
  found: KillFindings,
): Promise<string[]> {
  const violations: string[] = [];
  const known = new Map(found.previews.map(preview => [preview.id, preview]));
  const asked = new Map(report.flatMap(line => (line.told === 'staging' ? [[line.path, line]] : [])));
  const paths = new Set<string>();

  for (const { id, path: file, state, stale, listed, outcomes } of found.previews) {
    const name = `${id} (${file}, ${state})`;
    const sides = asked.get(file);
    if (!sides) violations.push(`${name} was never staged`);
    if (paths.has(file)) violations.push(`${name} is there twice`);
    paths.add(file);
    if (listed !== (state === 'pending')) violations.push(`${name} is ${listed ? '' : 'not '}listed`);
    if (outcomes.filter(outcome => outcome !== 'failed').length !== (state === 'pending' ? 0 : 1))
      violations.push(`${name} has these attempts in the ledger: ${outcomes.join(', ')}`);
    if (stale) violations.push(`${name} is stale although nobody else touched its file`);
    const content = await textOf(path.join(folder, file));
    if (!sides) continue;
    const before = sides.creates ? null : contentOf('before', file, sides.size);
    const after = contentOf('after', file, sides.size);
    if (content !== (state === 'applied' ? after : before))
      violations.push(`${name}, but its file holds ${nameOfContent(content, before, after)}`);
  }
  for (const line of report) {
    if (line.told === 'staged' && known.get(line.id)?.path !== line.path)
      violations.push(`${line.id} (${line.path}) was told as staged and is gone`);
    if (line.told === 'resolved') {
      const state = known.get(line.id)?.state;
      const told = line.action === 'apply' ? 'applied' : 'discarded';
      if (state !== told) violations.push(`${line.id} was told as ${told} and is ${state ?? 'gone'}`);
    }
  }
  if (found.sessionState !== 'idle') violations.push(`the session is ${found.sessionState}`);
  violations.push(...historyViolations(found.messages));
  return violations;
}

async function textOf(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch {
    return null;
  }
}

function nameOfContent(content: string | null, before: string | null, after: string): string {
  if (content === after) return 'the new text';
  if (content === before) return 'the old text';
  return content === null ? 'nothing' : `a part, ${content.length} characters`;
}

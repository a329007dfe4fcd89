import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import * as path from 'node:path';
import { historyViolations } from '../../support/scriptedProvider.ts';
import { contentOf, type KillFindings, type KillReport } from './killWorkload.ts';

/**
 * What is wrong after a kill: a preview that was reported and is lost, that exists twice, whose file does not match its
 * state, or that was resolved differently from what was reported.
 */
export async function violationsAfterKill(
  folder: string,
  report: readonly KillReport[],
  found: KillFindings,
): Promise<string[]> {
  const violations: string[] = [];
  const known = new Map(found.previews.map(preview => [preview.id, preview]));
  const asked = new Map(report.flatMap(line => (line.type === 'staging' ? [[line.path, line]] : [])));
  const paths = new Set<string>();

  for (const { id, path: file, state, stale, listed, outcomes } of found.previews) {
    const name = `${id} (${file}, ${state})`;
    const sides = asked.get(file);
    if (!sides) violations.push(`${name} was never staged`);
    if (paths.has(file)) violations.push(`${name} exists twice`);
    paths.add(file);
    if (listed !== (state === 'pending')) violations.push(`${name} is ${listed ? '' : 'not '}listed`);
    if (outcomes.filter(outcome => outcome !== 'failed').length !== (state === 'pending' ? 0 : 1))
      violations.push(`${name} has these attempts in the ledger: ${outcomes.join(', ')}`);
    if (stale) violations.push(`${name} is stale although nothing else changed its file`);
    const content = await textOf(path.join(folder, file));
    if (!sides) continue;
    const before = sides.creates ? null : contentOf('before', file, sides.size);
    const after = contentOf('after', file, sides.size);
    if (content !== (state === 'applied' ? after : before))
      violations.push(`${name}, but its file holds ${nameOfContent(content, before, after)}`);
  }
  for (const line of report) {
    if (line.type === 'staged' && known.get(line.id)?.path !== line.path)
      violations.push(`${line.id} (${line.path}) was reported as staged and is lost`);
    if (line.type === 'resolved') {
      const state = known.get(line.id)?.state;
      const reported = line.action === 'apply' ? 'applied' : 'discarded';
      if (state !== reported)
        violations.push(`${line.id} was reported as ${reported} and is ${state ?? 'lost'}`);
    }
  }
  const isInReview = found.previews.some(({ state }) => state === 'pending');
  if (found.sessionState !== 'idle' && !(found.sessionState === 'awaitingReview' && isInReview))
    violations.push(`the session is ${found.sessionState}`);
  violations.push(...historyViolations(found.messages));
  return violations;
}

/**
 * The files of the workload that hold their new text, although it was not reported that they were resolved: no start of the
 * extension host may undo that. Fast, since VS Code soon starts a killed extension host again.
 */
export function writtenFiles(folder: string, report: readonly KillReport[]): ReadonlySet<string> {
  const resolved = new Set(report.flatMap(line => (line.type === 'resolved' ? [line.id] : [])));
  const ended = new Set(
    report.flatMap(line => (line.type === 'staged' && resolved.has(line.id) ? [line.path] : [])),
  );
  const written = new Set<string>();
  for (const line of report) {
    if (line.type !== 'staging' || ended.has(line.path)) continue;
    const file = path.join(folder, line.path);
    if (existsSync(file) && readFileSync(file, 'utf8') === contentOf('after', line.path, line.size))
      written.add(line.path);
  }
  return written;
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

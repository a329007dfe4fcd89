/**
 * The extension host killed with SIGKILL in the middle of staging and resolving, again and again on one storage.
 *
 * Environment: REDLINE_KILLS how often (5).
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { DrivenWorkbench } from '../ui/support/drivenWorkbench.ts';
import { violationsAfterKill } from '../ui/support/killVerdict.ts';
import { findings, workUntilKilled, type KillReport } from '../ui/support/killWorkload.ts';

const KILLS = Number(process.env['REDLINE_KILLS'] ?? 5);
/** The latest moment of a kill after the work began, in milliseconds. */
const LATEST_MS = 400;

let driven: DrivenWorkbench;
let scratch: string;

before(async () => {
  scratch = await mkdtemp(path.join(tmpdir(), 'redline-kill-'));
  driven = await DrivenWorkbench.open({
    settings: { 'redline.resolve.modelAuthority': 'apply', 'redline.provider': 'offline' },
  });
});

after(async () => {
  await driven.close();
  await rm(scratch, { recursive: true, force: true });
});

test(`SIGKILL of the extension host while staging and resolving (${KILLS} times): nothing lost, nothing doubled`, async () => {
  const folder = driven.workbench.workspace;
  const reportFile = path.join(scratch, 'report.jsonl');
  const violations = new Set<string>();
  for (let life = 1; life <= KILLS; life++) {
    const size = sizeOf(reportFile);
    const work = driven.run(workUntilKilled, { life, report: reportFile, folder });
    const ended = assert.rejects(work, 'the work does not end before the kill');
    while (sizeOf(reportFile) === size) await Promise.race([delay(1), ended]);
    await delay(Math.random() * LATEST_MS);
    driven.kill();
    await ended;
    await driven.reload();
    const found = await driven.run(findings);
    for (const violation of await violationsAfterKill(folder, readReport(reportFile), found)) {
      if (!violations.has(violation)) console.log(`after kill ${life}: ${violation}`);
      violations.add(violation);
    }
  }
  const report = readReport(reportFile);
  const count = (told: KillReport['told']): number => report.filter(line => line.told === told).length;
  const litter = (await readdir(folder)).filter(name => name.endsWith('.redline'));
  console.log(
    `${KILLS} kills, ${violations.size} violations (${count('staged')} previews staged, ` +
      `${count('resolved')} resolved, ${litter.length} temporary files left)`,
  );
  assert.deepEqual([...violations], []);
});

function sizeOf(file: string): number {
  return existsSync(file) ? statSync(file).size : 0;
}

/** What the workload has told; a last line that was cut off was told to nobody. */
function readReport(file: string): readonly KillReport[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map(line => JSON.parse(line) as KillReport);
}

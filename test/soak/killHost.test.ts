/**
 * Kills the extension host with SIGKILL while it stages and resolves, again and again on the same storage.
 *
 * Environment: REDLINE_KILLS how many times (5).
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { DrivenWorkbench } from '../ui/support/driver.ts';
import { violationsAfterKill, writtenFiles } from '../ui/support/killVerdict.ts';
import { findings, workUntilKilled, type KillReport } from '../ui/support/killWorkload.ts';

const KILLS = Number(process.env['REDLINE_KILLS'] ?? 5);
/** The longest time from the start of the work to the kill, in milliseconds. */
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

test(`SIGKILL of the extension host while staging and resolving (${KILLS} times): nothing is lost or duplicated`, async () => {
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
    const written = writtenFiles(folder, readReport(reportFile));
    await driven.reload();
    const report = readReport(reportFile);
    const staged = report.flatMap(line => (line.type === 'staged' ? [line.id] : []));
    const found = await driven.run(findings, staged);
    const undone = found.previews.filter(({ path, state }) => written.has(path) && state !== 'applied');
    for (const violation of [
      ...undone.map(({ id, path, state }) => `${id} (${path}) had been written and is ${state}`),
      ...(await violationsAfterKill(folder, report, found)),
    ]) {
      if (!violations.has(violation)) console.log(`after kill ${life}: ${violation}`);
      violations.add(violation);
    }
  }
  const report = readReport(reportFile);
  const count = (type: KillReport['type']): number => report.filter(line => line.type === type).length;
  const leftovers = (await readdir(folder)).filter(name => name.endsWith('.redline'));
  console.log(
    `${KILLS} kills, ${violations.size} violations (${count('staged')} previews staged, ` +
      `${count('resolved')} resolved, ${leftovers.length} temporary files left)`,
  );
  assert.deepEqual([...violations], []);
});

function sizeOf(file: string): number {
  return existsSync(file) ? statSync(file).size : 0;
}

/** The report that the workload wrote, without a last line that the kill cut off. */
function readReport(file: string): readonly KillReport[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map(line => JSON.parse(line) as KillReport);
}

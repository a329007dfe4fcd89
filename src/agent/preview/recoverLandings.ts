import { composedSteps, type LandingFiles } from './landing.ts';
import type { LandingGround } from './landingGround.ts';
import type { PreviewStore } from './previewStore.ts';
import { takeBack } from './takeBack.ts';

/** What taking back an interrupted landing came to. */
export interface RecoveryReport {
  /** Previews whose landing was cut off; they are pending again. */
  readonly previewIds: readonly string[];
  /** Paths that were put back to what they held before. */
  readonly restored: readonly string[];
  /** Paths that hold neither the old nor the new content: somebody changed them since, so they were left alone. */
  readonly leftAlone: readonly string[];
}

const noGround: LandingGround = { newFolders: [], modes: {} };

/**
 * Takes back landings that a crash cut off, so that all of their files landed or none did: a file that holds
 * what the landing wrote, wholly or as far as it came, gets its old content back, any other is left alone. Call it only for a log that no other
 * process writes: what looks cut off may be under way there.
 */
export async function recoverLandings(
  store: PreviewStore,
  files: LandingFiles,
): Promise<readonly RecoveryReport[]> {
  const reports: RecoveryReport[] = [];
  for (const { ids: previewIds, ground } of store.interruptedLandings) {
    const steps = composedSteps(previewIds.flatMap(id => store.get(id)?.changes ?? []));
    const { restored, foreign, failed } = await takeBack(files, steps, ground ?? noGround);
    await store.endRecovery(previewIds).catch(() => undefined);
    reports.push({ previewIds, restored, leftAlone: [...foreign, ...failed].sort() });
  }
  return reports;
}

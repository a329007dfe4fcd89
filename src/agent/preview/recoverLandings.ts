import { sha256 } from '../base/hash.ts';
import { forEachLimited } from '../base/pool.ts';
import { bytesOfSide } from './fileChange.ts';
import { composedSteps, phasesBack, type LandingFiles } from './landing.ts';
import type { PreviewStore } from './previewStore.ts';

/** What taking back an interrupted landing came to. */
export interface RecoveryReport {
  /** Previews whose landing was cut off; they are pending again. */
  readonly previewIds: readonly string[];
  /** Paths that were put back to what they held before. */
  readonly restored: readonly string[];
  /** Paths that hold neither the old nor the new content: somebody changed them since, so they were left alone. */
  readonly leftAlone: readonly string[];
}

/**
 * Takes back landings that a crash cut off, so that all of their files landed or none did: a file that still holds
 * exactly what the landing wrote gets its old content back, any other is left alone. Call it only for a log that no other
 * process writes: what looks cut off may be under way there.
 */
export async function recoverLandings(
  store: PreviewStore,
  files: LandingFiles,
): Promise<readonly RecoveryReport[]> {
  const reports: RecoveryReport[] = [];
  for (const { ids: previewIds, ground } of store.interruptedLandings) {
    const steps = composedSteps(previewIds.flatMap(id => store.get(id)?.changes ?? []));
    const restored: string[] = [];
    const leftAlone: string[] = [];
    const paths = steps.map(step => step.path);
    for (const phase of phasesBack(steps)) {
      await forEachLimited(phase, 8, async ({ path, before, after }) => {
        try {
          const bytes = await files.read(path);
          const now = bytes ? sha256(bytes) : null;
          if (now === (before?.hash ?? null)) return;
          if (now !== (after?.hash ?? null)) return void leftAlone.push(path);
          await files.write(path, before && bytesOfSide(before), now, ground?.modes[path]);
          restored.push(path);
        } catch {
          leftAlone.push(path);
        }
      });
      await files.tidy(paths, ground?.newFolders ?? []);
    }
    await store.endRecovery(previewIds).catch(() => undefined);
    reports.push({ previewIds, restored: restored.sort(), leftAlone: leftAlone.sort() });
  }
  return reports;
}

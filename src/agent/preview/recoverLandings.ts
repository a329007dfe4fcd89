import { sha256 } from '../base/hash.ts';
import { forEachLimited } from '../base/pool.ts';
import { bytesOfSide } from './fileChange.ts';
import { composedSteps } from './landing.ts';
import type { PreviewStore } from './previewStore.ts';
import type { Workspace } from './workspace.ts';

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
 * exactly what the landing wrote gets its old content back, any other is left alone.
 */
export async function recoverLandings(
  store: PreviewStore,
  files: Pick<Workspace, 'read' | 'write'>,
): Promise<readonly RecoveryReport[]> {
  const reports: RecoveryReport[] = [];
  for (const previewIds of store.interruptedLandings) {
    const changes = previewIds.flatMap(id => store.get(id)?.changes ?? []);
    const restored: string[] = [];
    const leftAlone: string[] = [];
    await forEachLimited(composedSteps(changes), 8, async ({ path, before, after }) => {
      try {
        const bytes = await files.read(path);
        const now = bytes ? sha256(bytes) : null;
        if (now === (before?.hash ?? null)) return;
        if (now !== (after?.hash ?? null)) return void leftAlone.push(path);
        await files.write(path, before && bytesOfSide(before), now);
        restored.push(path);
      } catch {
        leftAlone.push(path);
      }
    });
    await store.endRecovery(previewIds).catch(() => undefined);
    reports.push({ previewIds, restored: restored.sort(), leftAlone: leftAlone.sort() });
  }
  return reports;
}

import { WorkerAstEngine } from '../../src/agent/tools/ast/client.ts';
import type { AstFile, AstRequest } from '../../src/agent/tools/ast/protocol.ts';
import { installedGrammars } from '../../test/support/astGrammars.ts';

/** The engine, from its sources. */
export function startEngine(): WorkerAstEngine {
  const file = new URL('../../src/agent/tools/ast/worker.ts', import.meta.url);
  return new WorkerAstEngine(file, { grammars: installedGrammars() });
}

/** A rewrite of everything in a folder. */
export function requestFor(folder: string, pat: string, out: string): AstRequest {
  const root = { folder: folder.replaceAll('\\', '/'), prefix: '', paths: [''], exclude: [] };
  return { ops: [{ pat, out }], roots: [root], seen: [] };
}

/** What one search took, in milliseconds. */
export interface Measured {
  readonly total: number;
  /** Until the first file arrived; `undefined` when none did. */
  readonly first: number | undefined;
  readonly files: number;
  readonly replacements: number;
}

/** Runs a search as a tool does; `take` gets the files as they come. */
export async function measure(
  engine: WorkerAstEngine,
  request: AstRequest,
  take: (files: readonly AstFile[]) => void = () => undefined,
): Promise<Measured> {
  const started = performance.now();
  let first: number | undefined;
  let files = 0;
  let replacements = 0;
  await engine.run(
    request,
    {
      onFiles(batch) {
        first ??= performance.now() - started;
        files += batch.length;
        for (const file of batch) replacements += file.matches;
        take(batch);
      },
    },
    new AbortController().signal,
  );
  return { total: performance.now() - started, first, files, replacements };
}

import { WorkerAstEngine } from '../../src/agent/session/tools/ast/worker/client.ts';
import type { AstFile, AstRequest } from '../../src/agent/session/tools/ast/worker/protocol.ts';
import { installedGrammars } from '../../test/support/astGrammars.ts';

/** The engine, from its sources. */
export function startEngine(): WorkerAstEngine {
  const file = new URL('../../src/agent/session/tools/ast/worker/worker.ts', import.meta.url);
  return new WorkerAstEngine(file, { grammars: installedGrammars() });
}

/** A request to rewrite all matches in a folder. */
export function requestFor(folder: string, pat: string, out: string): AstRequest {
  const root = { folder: folder.replaceAll('\\', '/'), prefix: '', paths: [''], exclude: [] };
  return { ops: [{ pat, out }], roots: [root], inMemory: [] };
}

/** The figures of one search; times in milliseconds. */
export interface Measured {
  readonly total: number;
  /** The time until the first file arrived; `undefined` if there was no match. */
  readonly first: number | undefined;
  readonly files: number;
  readonly replacements: number;
}

/** Runs a search as the tools do; `take` gets the files as they arrive. */
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

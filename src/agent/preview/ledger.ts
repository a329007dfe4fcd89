import { stepsOf } from './fileChange.ts';
import type { Actor, Preview, ResolveAction } from './preview.ts';

/** One attempt to resolve a preview: who, what, when, why, and what came of it. Failed attempts are entries too. */
export interface LedgerEntry {
  readonly previewId: string;
  readonly label: string;
  readonly sourceToolName: string;
  readonly action: ResolveAction;
  readonly actor: Actor;
  readonly reason: string;
  readonly extra?: Record<string, unknown>;
  /** `failed`: an apply that threw (the preview is pending again) or that returned an error (it is not). */
  readonly outcome: 'applied' | 'discarded' | 'failed';
  readonly message?: string;
  /** Whoever asked for it had been stopped before it ended, and has not heard of it. */
  readonly interrupted?: true;
  readonly details?: unknown;
  /** ISO 8601. */
  readonly at: string;
  readonly hunks?: { readonly applied: number; readonly refused: number };
  /** sha-256 of each file's bytes before and after; `null` where there is no file. */
  readonly files: readonly {
    readonly path: string;
    readonly before: string | null;
    readonly after: string | null;
  }[];
}

/** The hashes of all paths that a preview touches. */
export function ledgerFiles(preview: Preview): LedgerEntry['files'] {
  return (preview.changes ?? []).flatMap(stepsOf).map(({ path, before, after }) => ({
    path,
    before: before?.hash ?? null,
    after: after?.hash ?? null,
  }));
}

import type { CheckFact } from '../ledger.ts';
import type { Preview } from '../preview.ts';

/** Why a vote is not proved by checks. */
export type UnprovedReason =
  /** No check of the user concerns these files. */
  | 'noChecks'
  /** They cannot run: there is no isolated sandbox, the workspace is not trusted, or a person must approve one first. */
  | 'cannotRun'
  /** One of them did not pass. */
  | 'failed'
  /** The files, or unsaved text, changed meanwhile: no result is about the files that would land. */
  | 'changed'
  /** They did not run: another vote of the call comes first, or was refused. */
  | 'waits';

/** The checks' verdict on exactly the files that a vote would write. */
export type Proof =
  | { readonly isProved: true; readonly checks: readonly CheckFact[] }
  | {
      readonly isProved: false;
      readonly why: UnprovedReason;
      readonly checks: readonly CheckFact[];
      /** The first failure, for the model. */
      readonly failure?: string | undefined;
    };

/** Why a vote was not carried out. */
export type Unproved = Extract<Proof, { isProved: false }> & {
  /** The previews that the vote names and that would have been applied together. */
  readonly on: readonly Preview[];
  /** The groups that pass without the rest of the vote: one of these previews each, after those it builds on. */
  readonly alone: readonly (readonly Preview[])[];
};

/** The invoker's interface to checks. */
export interface Prover {
  /**
   * Whether every check has passed on exactly these previews, written together onto the current files. Runs the checks that have no
   * such result yet, which takes as long as they take.
   * @param previews pending previews of files, with all that they build on.
   */
  prove(previews: readonly Preview[], signal?: AbortSignal): Promise<Proof>;
  /** Known results, without running anything, for the ledger: those that are still current. */
  factsOf(previews: readonly Preview[]): readonly CheckFact[];
}

/** Stands in where there are no checks. */
export const NO_CHECKS: Prover = {
  prove: () => Promise.resolve({ isProved: false, why: 'noChecks', checks: [] }),
  factsOf: () => [],
};

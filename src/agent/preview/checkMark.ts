import type { CheckFact } from './ledger.ts';

/** What a surface shows of one check on one preview or on several. */
export interface CheckMark {
  readonly name: string;
  readonly state: 'running' | CheckFact['outcome'];
  /** Nothing that it saw has changed since. */
  readonly isCurrent: boolean;
  readonly seconds: number;
  readonly exitCode?: number;
  /** How many places its output names. */
  readonly problems: number;
  /** It has both passed and failed on the same files. */
  readonly isFlaky: boolean;
  /** Of the result; absent while it runs. */
  readonly resultId?: string;
  /** Ids of the other previews that were applied when it ran. */
  readonly together: readonly string[];
}

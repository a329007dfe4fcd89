import * as z from 'zod/mini';
import type { ResolveAction } from '../preview.ts';

/** The `details` of every result of a resolve. */
export interface ResolveDetails {
  readonly action: ResolveAction;
  readonly reason: string;
  readonly extra?: Record<string, unknown>;
  readonly sourceToolName?: string;
  readonly label?: string;
  /** The callback's own `details`, as they are. */
  readonly sourceResultDetails?: unknown;
}

const recommendation = z.object({ sourceResultDetails: z.object({ recommended: z.string() }) });

/** The id of the preview for which a result with these `details` only recorded a recommendation, else `undefined`. */
export function recommendedIn(details: unknown): string | undefined {
  return recommendation.safeParse(details).data?.sourceResultDetails.recommended;
}

const byAnother = z.object({ sourceResultDetails: z.object({ alreadyResolved: z.string() }) });

/**
 * Whether a result with these `details` only tells how another attempt ended: the vote itself did nothing. If that attempt
 * failed, the preview is pending again.
 */
export function wasResolvedByAnother(details: unknown): boolean {
  return byAnother.safeParse(details).success;
}

/** The details of a resolve, with those of the callback, if any, as `sourceResultDetails`. */
export function resolveDetails(
  base: Omit<ResolveDetails, 'sourceResultDetails'>,
  sourceResultDetails: unknown,
): ResolveDetails {
  return sourceResultDetails === undefined || sourceResultDetails === null
    ? base
    : { ...base, sourceResultDetails };
}

import { PLAN_SOURCE } from '../agent/preview/authority.ts';
import type { Preview } from '../agent/preview/preview.ts';

/**
 * What its producer wants people to see beside a preview: a text as it is, anything else as JSON. `undefined` where there is
 * nothing, and for a plan, which is a document of its own.
 */
export function detailsText(
  { details, sourceToolName }: Pick<Preview, 'details' | 'sourceToolName'>,
  indent?: number,
): string | undefined {
  if (details === undefined || sourceToolName === PLAN_SOURCE) return undefined;
  return typeof details === 'string' ? details : JSON.stringify(details, null, indent);
}

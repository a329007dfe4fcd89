import { jsonSafe } from '../agent/base/json.ts';
import type { Preview } from '../agent/preview/preview.ts';
import { escapeProse } from './plainText.ts';

/**
 * The details of a preview as text: a string as it is, anything else as JSON, and with {@link escapeProse}. `undefined` if there are none, and for a plan,
 * whose details are shown as a document.
 */
export function detailsText(
  { details, kind }: { readonly details?: unknown; readonly kind: Preview['kind'] },
  indent?: number,
): string | undefined {
  if (details === undefined || kind === 'plan') return undefined;
  if (typeof details === 'string') return escapeProse(details);
  // In logs of older versions, details may be nested to any depth.
  const safe = jsonSafe(details);
  return escapeProse(typeof safe === 'string' ? safe : JSON.stringify(safe, null, indent));
}

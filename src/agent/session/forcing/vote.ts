import { isRecord } from '../../base/json.ts';
import { isOpen, type ResolveAction } from '../../hold/preview/preview.ts';
import type { Handled, Resolved } from '../../hold/preview/resolve/resolved.ts';
import { reasonGiven } from '../../hold/preview/resolve/resolveTexts.ts';
import type { ModelResolver, ResolveCall } from './modelResolver.ts';

/**
 * A vote as it counts when the turn ends. `advice`: an apply that is only recorded; `unsettled`: the model has to respond,
 * because the apply failed, checks did not prove it, somebody who was faster gave a reason or failed, the user has edited what it is
 * about, or what the model wanted to discard has been applied.
 */
export type Vote = ResolveAction | 'advice' | 'plan' | 'unsettled';

/** The vote that a finished call of `resolve` was; `undefined` if it does not count. */
export function voteOf(
  call: ResolveCall,
  resolved: Resolved | Handled,
  resolver: Pick<ModelResolver, 'isPlanning' | 'known'>,
): Vote | undefined {
  if (resolved.kind === 'handled') return isSubmission(resolved) ? 'plan' : undefined;
  const advice = resolved.kind === 'recommended' ? resolved : undefined;
  // The model has already been told what had ended before the request was made.
  const isNews = resolved.kind === 'already' && resolver.known(resolved.preview.id) !== undefined;
  const others = isNews && resolved.last?.actor !== 'model' ? resolved.last : undefined;
  // If no check can prove it, the model can do no more.
  const isUnproved = advice?.unproved?.why === 'failed' || advice?.unproved?.why === 'changed';
  const isOtherwise =
    others && (reasonGiven(others) ?? (resolved.preview.editedByUser || isOpen(resolved.preview)));
  if (resolved.kind === 'returnedError' || isUnproved || isOtherwise) return 'unsettled';
  if (call.action === 'discard' && resolved.preview.state.kind === 'applied') return 'unsettled';
  if (resolver.isPlanning) return undefined;
  return advice ? 'advice' : call.action;
}

function isSubmission({ result: { details } }: Handled): boolean {
  const source = isRecord(details) ? details['sourceResultDetails'] : undefined;
  return isRecord(source) && source['submitted'] !== undefined;
}

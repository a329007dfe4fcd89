import { listed } from '../../base/phrases.ts';
import { safeName, safeText } from '../../base/safeName.ts';
import { pathsOf, type Preview } from '../../hold/preview/preview.ts';
import { reasonGiven } from '../../hold/preview/resolve/resolveTexts.ts';

/** The first texts, and `…` if there are more. */
export function firstOf(texts: readonly string[], most: number): string {
  return [...texts.slice(0, most), ...(texts.length > most ? ['…'] : [])].join(', ');
}

/** Names the files of a preview. An agent in a view has files and no votes, so it gets no ids. */
export function filesOf(preview: Preview): string {
  const paths = pathsOf(preview);
  return paths.length > 0 ? listed(paths) : safeName(preview.label);
}

/** The outcome of a preview, as a person says it: `notes.md: refused. Reason: Keep the name.` */
export function fileLine(preview: Preview): string {
  return `${preview.part ? 'A part of ' : ''}${filesOf(preview)}: ${outcomeOf(preview)}`;
}

function outcomeOf({ state, editedByUser }: Preview): string {
  switch (state.kind) {
    case 'pending':
      if (state.stale.length > 0)
        return `waits for the user, but ${listed(state.stale)} changed since, so it cannot be applied as it is.`;
      if (state.lastError !== undefined)
        return `waits for the user; applying it failed: ${safeText(state.lastError)}`;
      return editedByUser ? 'waits for the user, who has edited it.' : 'waits for the user.';
    case 'applying':
      return 'is being decided.';
    case 'applied':
    case 'discarded': {
      const [action, verb] =
        state.kind === 'applied' ? (['apply', 'applied'] as const) : (['discard', 'refused'] as const);
      const reason = reasonGiven({ action, ...state.by });
      const edited = editedByUser ? ', as the user has edited it' : '';
      return `${verb}${edited}.${reason === undefined ? '' : ` Reason: ${safeText(reason)}`}`;
    }
    case 'expired':
      return 'gone, without a decision.';
  }
}

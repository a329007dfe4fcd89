import { ToolError } from '../base/errors.ts';
import { renewText } from '../hold/preview/errors.ts';
import type { Fact } from '../hold/preview/feed.ts';
import type { FileChange } from '../hold/preview/fileChange.ts';
import { isOpen, isStale, nameOf, type CallRef, type Preview } from '../hold/preview/preview.ts';
import { otherConversationText, unseenText, usersOwnText } from '../hold/preview/resolve/refusedVoteTexts.ts';
import { alreadyResolvedText } from '../hold/preview/resolve/resolveTexts.ts';
import { waitText } from '../hold/preview/resolve/waitTexts.ts';
import type { ModelPreviews } from './tools/tool.ts';
import type { SessionContext } from './sessionOptions.ts';

const ON_ITS_OWN = 'Stage your change as a preview of its own.';

/**
 * One call's view of the pending previews in its conversation: what the model may see and change.
 * @param onStale called with the id of a preview that the result of the call calls stale
 */
export function modelPreviews(
  ctx: SessionContext,
  call: CallRef,
  onStale: (id: string) => void,
): ModelPreviews {
  const { store, invoker, choices, conversation, settings } = ctx;
  const noteStale = (preview: Preview): void => {
    if (isStale(preview)) onStale(preview.id);
  };
  return {
    noteStale,
    open: () => {
      const facts = Map.groupBy(store.feed.facts, ({ previewId }) => previewId);
      return Promise.all(
        conversation().previews.open.map(async preview => {
          const { lost = [], toRead } = staleness(facts.get(preview.id) ?? [], preview) ?? {};
          const waits = waitText(preview, {
            authority: settings().modelAuthority,
            isUsersAlone: await invoker.isUsersAlone(preview).catch(() => false),
            blockers: store.open.blockersOf(preview).map(({ id }) => id),
            lost,
          });
          return { preview, waits, toRead };
        }),
      );
    },
    toAmend: id => amendable(ctx, id, noteStale),
    amend: (preview, changes, title) => {
      if (store.get(preview.id) !== preview) throw new ToolError(changedText(preview));
      const stored = store.revise(preview.id, changes, preview.dependsOn, 'amend', undefined, {
        call,
        title,
      });
      const amended = store.get(preview.id) ?? preview;
      choices.noteAmended(amended);
      conversation().joinReview(preview.id);
      const above = store.open.dependentsOf(preview.id).map(({ id }) => id);
      const hadVoted = preview.state.kind === 'pending' && preview.state.recommendation !== undefined;
      const vote = settings().modelAuthority === 'none' ? 'none' : hadVoted ? 'outdated' : 'open';
      return { preview: amended, above, vote, stored };
    },
  };
}

/**
 * The preview, if the model may amend it: one that it staged itself, that is pending and not stale, that no one else has edited, and
 * whose revision it knows.
 */
function amendable(
  { store, choices, conversation }: SessionContext,
  id: string,
  noteStale: (preview: Preview) => void,
): Preview & FilesOf {
  const preview = store.get(id);
  if (!preview) throw new ToolError(`There is no preview ${id}. Call pending to see yours. ${ON_ITS_OWN}`);
  const { previews } = conversation();
  if (!previews.concerns(id)) throw new ToolError(`${otherConversationText(preview)} ${ON_ITS_OWN}`);
  if (!isOpen(preview) || preview.state.kind === 'applying')
    throw new ToolError(
      `${alreadyResolvedText(preview, 'model')} If another change is needed, stage it as a preview of its own.`,
    );
  if (preview.kind !== 'files')
    throw new ToolError(
      `${nameOf(preview)} changes no files, so it cannot be amended. Propose it anew, and discard this one, unless the user decides on it.`,
    );
  if (!previews.asksModel(id)) throw new ToolError(`${usersOwnText(preview)} ${ON_ITS_OWN}`);
  if (preview.editedByUser)
    throw new ToolError(`The user edited ${nameOf(preview)} and decides on it. ${ON_ITS_OWN}`);
  const stale = staleness(store.feed.facts, preview);
  if (stale) {
    noteStale(preview);
    throw new ToolError(`${nameOf(preview)} is stale, so it cannot be amended. ${renewText(stale.toRead)}`);
  }
  const known = choices.resolver.known(id);
  if (known === undefined) throw new ToolError(unseenText(preview, 'amend'));
  if (known !== preview.revision) throw new ToolError(changedText(preview));
  return preview;
}

/** Why the preview is stale, and what to read again; `undefined` if it is not. */
function staleness(
  facts: readonly Fact[],
  preview: Preview,
): Pick<Extract<Fact, { kind: 'stale' }>, 'lost' | 'toRead'> | undefined {
  const { state, id } = preview;
  if (state.kind !== 'pending' || state.stale.length === 0) return undefined;
  const fact = facts.findLast(({ kind, previewId }) => kind === 'stale' && previewId === id);
  return fact?.kind === 'stale' ? fact : { lost: [], toRead: state.stale };
}

/** The changes of a preview of files. */
interface FilesOf {
  readonly changes: readonly FileChange[];
}

function changedText(preview: Preview): string {
  return `${nameOf(preview)} has changed since your last request. Nothing was changed. Call pending with id "${preview.id}" to see its diff, and amend it in your next message.`;
}

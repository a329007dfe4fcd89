import { ToolError } from '../../base/errors.ts';
import type { Preview } from '../../hold/preview/preview.ts';
import {
  otherConversationText,
  unseenText,
  unshownText,
  usersOwnText,
} from '../../hold/preview/resolve/refusedVoteTexts.ts';
import type { Invoker } from '../../hold/preview/resolve/invoker.ts';
import { MAX_LOOK_CHARS, shownDiff, type NoteShown } from '../../hold/preview/shownDiffs.ts';
import type { ConversationPreviews } from '../conversation/conversationPreviews.ts';

/** The most characters of diffs with which one call is refused. */
const MAX_REFUSAL_CHARS = 80_000;

/** Refuses a vote on a preview that was staged after the request, or that is not the model's to decide on. */
export async function unseenError(
  preview: Preview,
  previews: ConversationPreviews,
  invoker: Invoker,
): Promise<ToolError> {
  const { id } = preview;
  if (!previews.asksModel(id))
    return new ToolError(previews.concerns(id) ? usersOwnText(preview) : otherConversationText(preview));
  const isAlone = await invoker.isUsersAlone(preview).catch(() => false);
  return new ToolError(unseenText(preview, isAlone ? 'user' : 'vote'));
}

/** Refuses a vote to apply lines that the model was not shown, and shows more of them. @param from up to where it was shown them */
export async function unshownError(
  preview: Preview,
  from: number,
  { voteOn = [], signal }: { readonly voteOn?: readonly string[]; readonly signal?: AbortSignal },
  noteShown: NoteShown,
): Promise<ToolError> {
  const room = Math.min(MAX_LOOK_CHARS, Math.floor(MAX_REFUSAL_CHARS / (voteOn.length || 1)));
  const shown = await shownDiff(preview, from, room);
  signal?.throwIfAborted();
  noteShown(preview, { from, ...shown });
  return new ToolError(unshownText(preview, from, shown));
}

import { messageIdOf } from '../../../agent/conversation/nodeId.ts';
import type { Preview } from '../../../agent/preview/preview.ts';
import type { ViewItem } from '../protocol.ts';
import type { TranscriptInput } from './lookup.ts';

type Input = Pick<TranscriptInput, 'sessionId' | 'messages' | 'nodeAt' | 'previews'>;

/** Above what a revert staged to undo a branch: that its changes are still in the files, unless the branch is back. */
export function stillApplied(preview: Preview, { previews, ...input }: Input): ViewItem[] {
  const { id, undoes = [], purpose, changes, origin } = preview;
  if (purpose !== 'revert' || undoes.length === 0 || origin?.sessionId !== input.sessionId) return [];
  const here = messageIds(input);
  const isBack = ({ origin: of }: Preview): boolean => of?.call !== undefined && here.has(of.call.messageId);
  const undone = previews.filter(other => undoes.includes(other.id));
  if (undone.length > 0 && undone.every(isBack)) return [];
  const notice = { about: 'stillApplied', count: changes?.length ?? 0, id } as const;
  return [{ kind: 'notice', key: `still:${id}`, notice }];
}

/** The ids of the messages on the trunk. */
export function messageIds({ messages, nodeAt }: Pick<Input, 'messages' | 'nodeAt'>): ReadonlySet<string> {
  return new Set(messages.map((_, at) => messageIdOf(nodeAt(at))));
}

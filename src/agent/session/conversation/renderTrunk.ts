import { messageText, type SessionMessage, type SteeringMessage } from '../model/messages.ts';
import type { ConversationTree } from './conversationTree.ts';
import { summarizedTrunk, summaryInForce } from './context/summarizedTrunk.ts';
import { withoutMarkers } from './markerEcho.ts';
import { renderNodeId, type NodeId } from './nodeId.ts';
import { isPinned, replacesContent, type NodeTag } from './revert.ts';
import type { Line } from './validTrunk.ts';

/** How many turns a decaying tag is shown for. */
const SHOWN_TURNS = 3;
/** How many of the newest tags of each kind are shown however old they are. */
const SHOWN_NEWEST = 3;

/** A line with the tags of its node. */
export interface TaggedLine extends Line {
  readonly tags: readonly NodeTag[];
  /** Whether it is a tool result, or an answer that made calls, even if they are no longer on the trunk. */
  readonly isCluster: boolean;
}

/** The message that is added to the first requests after a revert, until the model has answered. It is not a node. */
export const STEER: SteeringMessage = {
  role: 'steering',
  kind: 'revert',
  text:
    '<system-reminder>\nThe conversation was reverted to this point; what followed was abandoned. ' +
    'Continue forward from here: do the next step, and do not redo what is done.\n</system-reminder>',
  previewIds: [],
};

/**
 * Renders the trunk for the next request, on copies: collapse, decay, weave, steer.
 * @param markers whether each message begins with the id of its node.
 * @param lines the lines of the trunk if some were shortened.
 */
export function renderTrunk(
  tree: ConversationTree,
  { markers, lines = summarizedTrunk(tree) }: { markers: boolean; lines?: readonly Line[] },
): SessionMessage[] {
  const tagged = lines.map(line => taggedLine(tree, line));
  const at = tagged.findIndex(({ message }) => message.role === 'steering' && message.kind === 'summary');
  const summary = tagged[at];
  if (summary) tagged[at] = { ...summary, tags: [...tagsBehind(tree, lines), ...summary.tags] };
  return steer(weave(decay(collapse(tagged), tree.turns), markers), tree.steeringAfter).map(
    ({ message }) => message,
  );
}

function taggedLine(tree: ConversationTree, line: Line): TaggedLine {
  if (line.id === null) return { ...line, tags: [], isCluster: false };
  const said = tree.get(line.id)?.message;
  const isCluster = said?.role === 'tool' || (said?.role === 'assistant' && said.toolCalls.length > 0);
  return { ...line, tags: tree.tagsOf(line.id), isCluster };
}

/** The tags of the nodes that a summary stands for. Tags outlive the messages of their nodes. */
function tagsBehind(tree: ConversationTree, lines: readonly Line[]): readonly NodeTag[] {
  const through = tree.hasTags ? summaryInForce(tree)?.through : undefined;
  if (through === undefined) return [];
  const shown = new Set(lines.map(({ id }) => id));
  const last = tree.positionOf(through);
  const isHidden = (id: NodeId): boolean =>
    !shown.has(id) && tree.isOnTrunk(id) && tree.positionOf(id) <= last;
  return tree.tagged.filter(isHidden).flatMap(id => tree.tagsOf(id));
}

/** Replaces the text of a tool call or result by the newest summary that is not empty. */
function collapse(lines: readonly TaggedLine[]): TaggedLine[] {
  return lines.map(line => {
    const summary = line.tags.findLast(tag => replacesContent(tag) && tag.summary !== '')?.summary;
    if (summary === undefined || !line.isCluster) return line;
    return { ...line, message: withText(line.message, summary) };
  });
}

/** Removes the tags that are too old. Pinned tags and the newest of each kind stay. */
function decay(lines: readonly TaggedLine[], turn: number): TaggedLine[] {
  const all = lines.flatMap(({ tags }) => tags);
  const newest = new Set(
    [...new Set(all.map(({ kind }) => kind))].flatMap(kind =>
      all
        .filter(tag => tag.kind === kind)
        .sort((a, b) => a.createdAtTurn - b.createdAtTurn)
        .slice(-SHOWN_NEWEST),
    ),
  );
  const isShown = (tag: NodeTag): boolean =>
    isPinned(tag) || turn - tag.createdAtTurn <= SHOWN_TURNS || newest.has(tag);
  return lines.map(line => (line.tags.length === 0 ? line : { ...line, tags: line.tags.filter(isShown) }));
}

/** Puts the marker before each text and the tags after it. An empty answer without tags stays as it is. */
export function weave(lines: readonly TaggedLine[], markers: boolean): TaggedLine[] {
  return lines.map(line => {
    const { id, message } = line;
    const tags = [...new Set(line.tags.map(({ kind, text }) => `[${kind}: ${text}]`))];
    const marker =
      markers && id !== null && !(isSilent(message) && tags.length === 0) ? [`[${renderNodeId(id)}]`] : [];
    if (marker.length === 0 && tags.length === 0) return line;
    // A summary that stands for the text of its node is in the tag, too.
    const isInTag = line.tags.some(tag => replacesContent(tag) && tag.summary === messageText(message));
    const own = line.isCluster && isInTag ? '' : messageText(message);
    const text = markers && message.role === 'assistant' ? withoutMarkers(own) : own;
    return {
      ...line,
      message: withText(message, [...marker, ...(text === '' ? [] : [text]), ...tags].join(' ')),
    };
  });
}

/** Whether no provider sends the message: an answer without text and calls, which failed or was stopped at once. */
export function isSilent(message: SessionMessage): boolean {
  return message.role === 'assistant' && message.text === '' && message.toolCalls.length === 0;
}

/** Inserts the steering message after the target of the last revert and its tool results. */
function steer(lines: readonly TaggedLine[], after: number | undefined): readonly Line[] {
  const at = after === undefined ? -1 : lines.findIndex(({ id }) => id === after);
  if (at < 0) return lines;
  let end = at + 1;
  while (lines[end]?.message.role === 'tool') end++;
  return [...lines.slice(0, end), { id: null, message: STEER }, ...lines.slice(end)];
}

function withText(message: SessionMessage, text: string): SessionMessage {
  return message.role === 'tool' ? { ...message, content: text } : { ...message, text };
}

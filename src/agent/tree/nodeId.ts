/** A node of a session's tree: counts up from 0 for the whole session, over all branches. Rendered as `n12`. */
export type NodeId = number;

/** No session gets there; what a log says beyond it was not written by us. */
export const MAX_NODE_ID = 999_999_999;

export function renderNodeId(id: NodeId): string {
  return `n${id}`;
}

/** The node that `n12` or `12` names; `undefined` for everything else. */
export function parseNodeId(text: string): NodeId | undefined {
  const [, digits] = /^n?(\d+)$/.exec(text) ?? [];
  const id = Number(digits);
  return Number.isSafeInteger(id) ? id : undefined;
}

/** The name of a node in the origin of previews. */
export function messageIdOf(id: NodeId): string {
  return `m${id}`;
}

/** The node that an origin names; `undefined` where it names none. */
export function nodeOfMessageId(messageId: string): NodeId | undefined {
  const [, digits] = /^m(\d+)$/.exec(messageId) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** The id of a node. Ids count up from 0 through the whole session, over all branches. Rendered as `n12`. */
export type NodeId = number;

/** No session gets this far: a larger id in a log was not written by us. */
export const MAX_NODE_ID = 999_999_999;

export function renderNodeId(id: NodeId): string {
  return `n${id}`;
}

/** The id in `n12` or `12`; `undefined` for any other text. */
export function parseNodeId(text: string): NodeId | undefined {
  const [, digits] = /^n?(\d+)$/.exec(text) ?? [];
  const id = Number(digits);
  return Number.isSafeInteger(id) ? id : undefined;
}

/** The `messageId` of a node, as the origin of a preview stores it. */
export function messageIdOf(id: NodeId): string {
  return `m${id}`;
}

/** The node of a `messageId`; `undefined` if it is malformed. */
export function nodeOfMessageId(messageId: string): NodeId | undefined {
  const [, digits] = /^m(\d+)$/.exec(messageId) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

import type { AgentName, Preview, PreviewOrigin } from '../../hold/preview/preview.ts';

/** The prefix of the session ids of agents in terminals. */
export const VIEW_SESSION = 'view-';

/** Whether a preview comes from a terminal of the agent with this name. */
export function isOfTerminal(origin: PreviewOrigin | null | undefined, name: string): boolean {
  return origin?.agent?.name === name && origin.sessionId?.startsWith(VIEW_SESSION) === true;
}

/** The open previews of an agent: those of one session's terminal, and those of its other terminals. */
export function pendingOf(
  name: string,
  sessionId: string,
  open: Iterable<Preview>,
): { readonly own: readonly Preview[]; readonly others: readonly Preview[] } {
  const all = [...open].filter(({ origin }) => isOfTerminal(origin, name));
  const isOwn = ({ origin }: Preview): boolean => origin?.sessionId === sessionId;
  return { own: all.filter(isOwn), others: all.filter(each => !isOwn(each)) };
}

/** The session that an earlier terminal of the agent left with pending previews, unless one is at work in it; else a new one. */
export function sessionOf(
  { name }: AgentName,
  open: Iterable<Preview>,
  atWork: ReadonlyMap<string, string>,
  id: string,
): string {
  const taken = new Set(atWork.values());
  const left = [...open].findLast(
    ({ origin }) => isOfTerminal(origin, name) && !taken.has(origin?.sessionId ?? ''),
  );
  return left?.origin?.sessionId ?? `${VIEW_SESSION}${id}`;
}

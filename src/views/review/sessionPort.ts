import type { AssistantMessage } from '../../agent/session/model/messages.ts';
import type { SessionEvent } from '../../agent/session/events.ts';
import type { Session } from '../../agent/session/session.ts';

/** The review's only view of the agent's session; nothing else in this room imports it. */
export type ReviewedSession = Pick<Session, 'id' | 'queue' | 'onDidEmit'>;
export type { AssistantMessage, SessionEvent };

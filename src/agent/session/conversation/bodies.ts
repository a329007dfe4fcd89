import type { SessionMessage } from '../model/messages.ts';

/** A message that is still a line of the log. It is parsed at its first use; its role is known before that. */
export interface StoredBody {
  readonly role: SessionMessage['role'];
  /** Parses the message; `undefined` if that fails. */
  read(): SessionMessage | undefined;
}

/** Stands in for a message that could not be parsed: a local message without text. Local messages are never part of a request. */
const LOST: SessionMessage = { role: 'local', text: '', answer: '' };

/**
 * The messages of a tree, by the dense integers of its {@link NodeTable}. Messages from a log are parsed at their first
 * use.
 */
export class Bodies {
  readonly #bodies: (SessionMessage | StoredBody)[] = [];

  push(body: SessionMessage | StoredBody): void {
    this.#bodies.push(body);
  }

  /** Replaces a message if it cannot be parsed. @returns whether it was replaced. */
  replaceLost(index: number, body: SessionMessage | StoredBody): boolean {
    if (this.get(index) !== LOST) return false;
    this.#bodies[index] = body;
    return true;
  }

  get(index: number): SessionMessage | undefined {
    const body = this.#bodies[index];
    if (body === undefined || !('read' in body)) return body;
    const message = body.read() ?? LOST;
    this.#bodies[index] = message;
    return message;
  }

  /** The role of a message, without parsing it. */
  roleOf(index: number): SessionMessage['role'] | undefined {
    return this.#bodies[index]?.role;
  }
}

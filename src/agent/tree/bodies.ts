import type { SessionMessage } from '../model/messages.ts';

/** A message of a log that is parsed once somebody wants to read it. Its role is known before. */
export interface StoredBody {
  readonly role: SessionMessage['role'];
  /** `undefined` if it cannot be read after all. */
  read(): SessionMessage | undefined;
}

/** Stands for a message that could not be read: it is no part of any request. */
const LOST: SessionMessage = { role: 'local', text: '', answer: '' };

/** The messages of a tree, by dense integers. Those of a log are parsed at their first use. */
export class Bodies {
  readonly #bodies: (SessionMessage | StoredBody)[] = [];

  push(body: SessionMessage | StoredBody): void {
    this.#bodies.push(body);
  }

  /** Takes the place of a message that cannot be read. */
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

  /** Without parsing. */
  roleOf(index: number): SessionMessage['role'] | undefined {
    return this.#bodies[index]?.role;
  }
}
